import type { FlagRow } from '../../../shared/flags/flag-row';
import { CIPHER_SUITE_NAMES } from './cipher-suites';

const GROUP = 'Secure serving';
const TLS_VERSIONS = ['VersionTLS12', 'VersionTLS13'] as const;

/** The flags for the port, its certificates and TLS. */
export const SERVING_FLAGS = [
  {
    name: 'bind-address',
    type: 'string',
    default: '0.0.0.0',
    group: GROUP,
    help: 'The IP address to listen on; 0.0.0.0 and :: mean all interfaces, in both IP families.',
  },
  {
    name: 'secure-port',
    type: 'int',
    default: 6443,
    min: 0,
    max: 65_535,
    group: GROUP,
    help: 'The port on which to serve HTTPS; 0 picks a free port.',
  },
  {
    name: 'cert-dir',
    type: 'string',
    default: '/var/run/orch',
    group: GROUP,
    help: 'The directory for generated files: the serving certificate if --tls-cert-file is not given, and the signing key of service account tokens if --service-account-signing-key-file is not given.',
  },
  {
    name: 'tls-cert-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The serving certificate (PEM), followed by its intermediate certificates. Reloaded when the file changes.',
  },
  {
    name: 'tls-private-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key (PEM) of --tls-cert-file.',
  },
  {
    name: 'tls-min-version',
    type: 'enum',
    values: TLS_VERSIONS,
    default: 'VersionTLS12',
    group: GROUP,
    help: 'The minimum TLS version.',
  },
  {
    name: 'tls-cipher-suites',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: `The cipher suites for TLS 1.2, in order of preference; those of TLS 1.3 are always offered. If empty, those of the runtime. Known: ${CIPHER_SUITE_NAMES.join(', ')}.`,
  },
  {
    name: 'tls-sni-cert-key',
    type: 'stringArray',
    default: [],
    group: GROUP,
    help: 'A certificate and its key, as <certificate file>,<key file>, for clients that ask for one of its names. Names can be given instead, as :<name>,<name> at the end, also with a wildcard (*.example.com). May be repeated; the first with a name counts. Reloaded when a file changes.',
  },
  {
    name: 'tls-handshake-rate',
    type: 'int',
    default: 300,
    min: 0,
    group: GROUP,
    help: 'The maximum TLS handshakes per second from one IPv4 address or IPv6 /64 network, after --tls-handshake-burst of them; connections beyond are closed. All clients of a load balancer share one address, unless --proxy-protocol-networks names it. 0 disables the limit.',
  },
  {
    name: 'tls-handshake-burst',
    type: 'int',
    default: 10_000,
    min: 1,
    group: GROUP,
    help: 'The maximum TLS handshakes at once from one address after a pause; at least the number of connections that come back through one load balancer when a replica restarts.',
  },
  {
    name: 'proxy-protocol-networks',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'Networks of load balancers whose connections all begin with a header of the PROXY protocol, version 1 or 2. The address in it is that of the client for limits, audit events and logs. Connections from other addresses have none.',
  },
] as const satisfies readonly FlagRow[];
