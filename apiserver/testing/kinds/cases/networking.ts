import { ANNOTATION, GROUP } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

const NETWORKING = `/apis/${GROUP.networking}`;

const service = { service: { name: 'web', port: { number: 80 } } };

const PATH = 'spec.rules[0].http.paths[0]';

/** One rule with one path that differs from a good one in this. */
function withPath(change: object): object {
  const path = { path: '/', pathType: 'Prefix', backend: service, ...change };
  return { spec: { rules: [{ host: 'example.com', http: { paths: [path] } }] } };
}

function withHost(host: string): object {
  return {
    spec: { rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend: service }] } }] },
  };
}

const OLD = {
  rules: [
    { http: { paths: [{ pathType: 'Prefix', path: '/', backend: { serviceName: 's', servicePort: 80 } }] } },
  ],
};

const from = (peer: object): object => ({ spec: { ingress: [{ from: [peer] }] } });

const PEER = 'spec.ingress[0].from[0]';

export const networkingCases: readonly KindCases[] = [
  {
    kind: 'Ingress',
    url: `${NETWORKING}/v1beta1/namespaces/default/ingresses`,
    good: { spec: OLD },
    bad: [
      [
        'a bad default backend',
        { spec: { backend: { serviceName: 'S_', servicePort: 70_000 } } },
        ['Invalid spec.backend.serviceName', 'Invalid spec.backend.servicePort'],
      ],
      [
        'a bad name of a port',
        { spec: { backend: { serviceName: 's', servicePort: 'P_' } } },
        ['Invalid spec.backend.servicePort'],
      ],
    ],
  },
  {
    kind: 'Ingress',
    url: `${NETWORKING}/v1/namespaces/default/ingresses`,
    good: {
      spec: { ...(withHost('*.example.com') as { spec: object }).spec, tls: [{ secretName: 'cert' }] },
    },
    bad: [
      ['neither rule nor backend', { spec: { rules: null } }, ['Invalid spec']],
      ['no type of path', withPath({ pathType: undefined, backend: {} }), [`Required ${PATH}.pathType`]],
      ['an unknown type of path', withPath({ pathType: 'Odd' }), [`NotSupported ${PATH}.pathType`]],
      ['a relative path', withPath({ path: 'x' }), [`Invalid ${PATH}.path`]],
      ['an empty segment', withPath({ path: '/a//b' }), [`Invalid ${PATH}.path`]],
      ['a path that ends upwards', withPath({ path: '/a/..' }), [`Invalid ${PATH}.path`]],
      ['an escaped slash', withPath({ path: '/a%2fb', pathType: 'Exact' }), [`Invalid ${PATH}.path`]],
      ['no backend', withPath({ backend: {} }), [`Invalid ${PATH}.backend`]],
      ['no port', withPath({ backend: { service: { name: 's' } } }), [`Required ${PATH}.backend`]],
      [
        'two ports',
        withPath({ backend: { service: { name: 's', port: { number: 80, name: 'x' } } } }),
        [`Invalid ${PATH}.backend`],
      ],
      [
        'no service',
        withPath({ backend: { service: { port: { number: 80 } } } }),
        [`Required ${PATH}.backend.service.name`],
      ],
      [
        'a resource without a kind',
        withPath({ backend: { resource: { name: 'n' } } }),
        [`Required ${PATH}.backend.resource.kind`],
      ],
      ['an address as host', withHost('192.0.2.1'), ['Invalid spec.rules[0].host']],
      ['two asterisks', withHost('*.*.example.com'), ['Invalid spec.rules[0].host']],
      ['an asterisk alone', withHost('*'), ['Invalid spec.rules[0].host']],
      [
        'a rule without paths',
        { spec: { rules: [{ http: { paths: [] } }] } },
        ['Required spec.rules[0].http.paths'],
      ],
      ['a bad secret', { spec: { tls: [{ secretName: 'S_' }] } }, ['Invalid spec.tls[0].secretName']],
      ['a bad class', { spec: { ingressClassName: 'B@d' } }, ['Invalid spec.ingressClassName']],
      [
        'a class in two places',
        { metadata: { annotations: { [ANNOTATION.ingressClass]: 'a' } }, spec: { ingressClassName: 'a' } },
        [`Invalid annotations.${ANNOTATION.ingressClass}`],
      ],
      [
        'a port that is too high',
        { spec: { defaultBackend: { service: { name: 's', port: { number: 70_000 } } } } },
        ['Invalid spec.defaultBackend.service.port.number'],
      ],
    ],
    badChanges: [['no rule left', { spec: { rules: null } }, ['Invalid spec']]],
    goodChanges: [['another host', withHost('other.example.com')]],
  },
  {
    kind: 'Ingress of the older version',
    url: `${NETWORKING}/v1beta1/namespaces/default/ingresses`,
    good: {
      spec: {
        rules: [{ http: { paths: [{ backend: { serviceName: 's', servicePort: 80 } }] } }],
        tls: [{ secretName: 'NOT_A_NAME' }],
      },
    },
    bad: [['no port', { spec: { backend: { serviceName: 's' } } }, ['Required spec.backend']]],
  },
  {
    kind: 'IngressClass',
    url: `${NETWORKING}/v1/ingressclasses`,
    good: { spec: { controller: 'example.com/controller' } },
    bad: [
      ['no controller', { spec: { controller: '' } }, ['Required spec.controller']],
      ['a controller without a domain', { spec: { controller: 'x' } }, ['Invalid spec.controller']],
      [
        'a controller that is too long',
        { spec: { controller: `a.b/${'c'.repeat(250)}` } },
        ['TooLong spec.controller'],
      ],
      [
        'parameters of nothing',
        { spec: { parameters: { kind: '', name: '' } } },
        ['Required spec.parameters.kind', 'Required spec.parameters.name'],
      ],
    ],
    badChanges: [
      ['another controller', { spec: { controller: 'example.com/other' } }, ['Invalid spec.controller']],
    ],
  },
  {
    kind: 'NetworkPolicy',
    url: `${NETWORKING}/v1/namespaces/default/networkpolicies`,
    good: {
      spec: {
        podSelector: {},
        ingress: [{ ports: [{ port: 80 }, { port: 'http', protocol: 'TCP' }] }],
        egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }] }],
      },
    },
    bad: [
      [
        'a bad selector',
        { spec: { podSelector: { matchLabels: { 'a b': 'c' } } } },
        ['Invalid spec.podSelector.matchLabels'],
      ],
      [
        'port 0',
        { spec: { ingress: [{ ports: [{ port: 0 }] }] } },
        ['Invalid spec.ingress[0].ports[0].port'],
      ],
      [
        'an unknown protocol',
        { spec: { egress: [{ ports: [{ protocol: 'ICMP' }] }] } },
        ['NotSupported spec.egress[0].ports[0].protocol'],
      ],
      ['no peer', from({}), [`Required ${PEER}`]],
      ['a block that is none', from({ ipBlock: { cidr: 'x' } }), [`Invalid ${PEER}.ipBlock.cidr`]],
      ['an empty block', from({ ipBlock: { cidr: '' } }), [`Required ${PEER}.ipBlock.cidr`]],
      [
        'an exception outside',
        from({ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16'] } }),
        [`Invalid ${PEER}.ipBlock.except[0]`],
      ],
      [
        'an exception of everything',
        from({ ipBlock: { cidr: 'fd00::/8', except: ['fd00::/8'] } }),
        [`Invalid ${PEER}.ipBlock.except[0]`],
      ],
      [
        'an exception of everything in another writing',
        from({ ipBlock: { cidr: '10.0.0.0/8', except: ['010.0.0.0/8'] } }),
        [`Invalid ${PEER}.ipBlock.except[0]`],
      ],
      [
        'a block with pods',
        from({ ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} }),
        [`Forbidden ${PEER}`],
      ],
      ['an unknown direction', { spec: { policyTypes: ['Odd'] } }, ['NotSupported spec.policyTypes[0]']],
      [
        'too many directions',
        { spec: { policyTypes: ['Ingress', 'Egress', 'Ingress'] } },
        ['Invalid spec.policyTypes'],
      ],
    ],
  },
];
