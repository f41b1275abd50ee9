import type { FlagRow } from '../../../shared/flags/flag-row';

const GROUP = 'Connections to other servers';

/** The flags for proxied connections to kubelets and extension API servers. */
export const CONNECT_FLAGS = [
  {
    name: 'kubelet-client-certificate',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The client certificate (PEM) with which this server shows itself to node agents. Requires --kubelet-client-key. Reloaded when the file changes.',
  },
  {
    name: 'kubelet-client-key',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key (PEM) of --kubelet-client-certificate.',
  },
  {
    name: 'kubelet-certificate-authority',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'CA bundle (PEM) that verifies the serving certificates of node agents. If empty, they are not verified.',
  },
  {
    name: 'kubelet-preferred-address-types',
    type: 'stringList',
    default: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
    group: GROUP,
    help: 'The types of node addresses at which node agents are reached; the first one that a node has is used.',
  },
  {
    name: 'kubelet-timeout',
    type: 'duration',
    default: '5s',
    group: GROUP,
    help: 'The time limit for connecting to a node agent.',
  },
  {
    name: 'kubelet-https',
    type: 'bool',
    default: true,
    group: GROUP,
    help: 'Connect to node agents over TLS.',
  },
  {
    name: 'kubelet-port',
    type: 'int',
    default: 10_250,
    min: 1,
    group: GROUP,
    help: 'The port of node agents whose Node does not state another one.',
  },
  {
    name: 'kubelet-read-only-port',
    type: 'int',
    default: 10_255,
    min: 0,
    group: GROUP,
    help: 'Deprecated: has no effect, as in v1.21.',
  },
  {
    name: 'proxy-client-cert-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The client certificate (PEM) with which this server shows itself to aggregated API servers, which then trust what it says of the user. Requires --proxy-client-key-file. Reloaded when the file changes.',
  },
  {
    name: 'proxy-client-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key (PEM) of --proxy-client-cert-file.',
  },
  {
    name: 'enable-aggregator-routing',
    type: 'bool',
    default: false,
    group: GROUP,
    help: 'Send requests for aggregated APIs to ready endpoints of their Service instead of its cluster IP.',
  },
  {
    name: 'egress-deny-cidrs',
    type: 'stringList',
    default: [
      '169.254.0.0/16',
      'fe80::/10',
      '100.100.100.200/32',
      '168.63.129.16/32',
      '192.0.0.192/32',
      'fd00:ec2::254/128',
      'fd20:ce::254/128',
    ],
    group: GROUP,
    help: 'Networks whose addresses this server never connects to, also by names that resolve to them: for webhooks, extension API servers, proxied requests, OpenID Connect and auditing; not for its store. By default link-local addresses and those of cloud metadata services. Empty: none.',
  },
] as const satisfies readonly FlagRow[];
