import { ANNOTATION, SECRET_TYPE } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

const CORE = '/api/v1/namespaces/default';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

export const coreCases: readonly KindCases[] = [
  {
    kind: 'ConfigMap',
    url: `${CORE}/configmaps`,
    good: { data: { 'app.properties': 'a=b', KEY: '' }, binaryData: { logo: 'AAEC' } },
    bad: [
      ['a key with a space', { data: { 'a b': 'c' } }, ['Invalid data[a b]']],
      ['a key that leads out of a folder', { data: { '..': 'c' } }, ['Invalid data[..]']],
      ['an empty key', { data: { '': 'c' } }, ['Invalid data[]']],
      ['a key that is too long', { data: { ['k'.repeat(254)]: 'c' } }, [`Invalid data[${'k'.repeat(254)}]`]],
      ['a key of both maps', { data: { logo: 'x' } }, ['Invalid data[logo]']],
      ['a bad binary key', { binaryData: { 'a/b': 'AA==' } }, ['Invalid binaryData[a/b]']],
      ['more than a mebibyte', { data: { big: 'x'.repeat(1024 * 1024) } }, ['TooLong []']],
    ],
    goodChanges: [['other data', { data: { KEY: 'new' } }]],
  },
  {
    kind: 'immutable ConfigMap',
    url: `${CORE}/configmaps`,
    good: { data: { a: '1' }, immutable: true },
    badChanges: [
      ['other data', { data: { a: '2' } }, ['Forbidden data']],
      ['binary data', { binaryData: { b: 'AA==' } }, ['Forbidden binaryData']],
      ['its own mark', { immutable: null, data: { a: '2' } }, ['Forbidden data', 'Forbidden immutable']],
    ],
    goodChanges: [['a label', { metadata: { labels: { a: 'b' } } }]],
  },
  {
    kind: 'Secret',
    url: `${CORE}/secrets`,
    good: { data: { password: base64('x') } },
    bad: [
      ['a key with a space', { data: { 'a b': 'AA==' } }, ['Invalid data[a b]']],
      ['too much data', { data: { big: base64('x'.repeat(1024 * 1024 + 1)) } }, ['TooLong data']],
      [
        'a token without an account',
        { type: SECRET_TYPE.serviceAccountToken },
        [`Required metadata.annotations[${ANNOTATION.serviceAccountName}]`],
      ],
      ['no registry file', { type: SECRET_TYPE.dockerConfig }, ['Required data[.dockercfg]']],
      [
        'a registry file that is no JSON',
        { type: SECRET_TYPE.dockerConfigJson, data: { '.dockerconfigjson': base64('no') } },
        ['Invalid data[.dockerconfigjson]'],
      ],
      [
        'neither user nor password',
        { type: SECRET_TYPE.basicAuth, data: { password: null } },
        ['Required data[%s][password]', 'Required data[%s][username]'],
      ],
      ['no private key', { type: SECRET_TYPE.sshAuth }, ['Required data[%s][ssh-privatekey]']],
      ['no certificate', { type: SECRET_TYPE.tls }, ['Required data[tls.crt]', 'Required data[tls.key]']],
    ],
    badChanges: [['another type', { type: 'example.com/other' }, ['Invalid type']]],
    goodChanges: [['other data', { data: { password: base64('y') } }]],
  },
  {
    kind: 'Service',
    url: `${CORE}/services`,
    good: { spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] } },
    bad: [
      ['no port', { spec: { ports: [] } }, ['Required spec.ports']],
      ['port 0', { spec: { ports: [{ port: 0, targetPort: 1 }] } }, ['Invalid spec.ports[0].port']],
      [
        'a port that is too high',
        { spec: { ports: [{ port: 65_536, targetPort: 1 }] } },
        ['Invalid spec.ports[0].port'],
      ],
      [
        'an unknown protocol',
        { spec: { ports: [{ port: 1, protocol: 'ICMP' }] } },
        ['NotSupported spec.ports[0].protocol'],
      ],
      [
        'a bad target',
        { spec: { ports: [{ port: 1, targetPort: 'Not OK' }] } },
        ['Invalid spec.ports[0].targetPort'],
      ],
      [
        'two ports without names',
        { spec: { ports: [{ port: 1 }, { port: 2 }] } },
        ['Required spec.ports[0].name', 'Required spec.ports[1].name'],
      ],
      [
        'two ports of one name',
        {
          spec: {
            ports: [
              { name: 'a', port: 1 },
              { name: 'a', port: 2 },
            ],
          },
        },
        ['Duplicate spec.ports[1].name'],
      ],
      [
        'one port twice',
        {
          spec: {
            ports: [
              { name: 'a', port: 1 },
              { name: 'b', port: 1 },
            ],
          },
        },
        ['Duplicate spec.ports[1]'],
      ],
      [
        'a bad name of a port',
        { spec: { ports: [{ name: 'A_', port: 1 }] } },
        ['Invalid spec.ports[0].name'],
      ],
      [
        'a bad protocol above',
        { spec: { ports: [{ port: 1, appProtocol: 'a b' }] } },
        ['Invalid spec.ports[0].appProtocol'],
      ],
      ['a bad selector', { spec: { selector: { 'a b': 'c' } } }, ['Invalid spec.selector']],
      ['an unknown type', { spec: { type: 'Odd' } }, ['NotSupported spec.type']],
      ['an unknown affinity', { spec: { sessionAffinity: 'Odd' } }, ['NotSupported spec.sessionAffinity']],
      [
        'an endless affinity',
        {
          spec: {
            sessionAffinity: 'ClientIP',
            sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } },
          },
        },
        ['Invalid spec.sessionAffinityConfig.clientIP.timeoutSeconds'],
      ],
      [
        'a loopback address outside',
        { spec: { externalIPs: ['127.0.0.1'] } },
        ['Invalid spec.externalIPs[0]'],
      ],
      [
        'a node port inside',
        { spec: { ports: [{ port: 1, nodePort: 30_123 }] } },
        ['Forbidden spec.ports[0].nodePort'],
      ],
      [
        'ranges of sources without a balancer',
        { spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } },
        ['Forbidden spec.LoadBalancerSourceRanges'],
      ],
      [
        'bad ranges of sources',
        { spec: { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0/33'] } },
        ['Invalid spec.LoadBalancerSourceRanges'],
      ],
      ['no name outside', { spec: { type: 'ExternalName' } }, ['Required spec.externalName']],
      [
        'a bad name outside',
        { spec: { type: 'ExternalName', externalName: 'B@d' } },
        ['Invalid spec.externalName'],
      ],
      [
        'a headless balancer',
        { spec: { type: 'LoadBalancer', clusterIP: 'None' } },
        ['Invalid spec.clusterIPs[0]'],
      ],
      ['no address', { spec: { clusterIP: 'bad' } }, ['Invalid spec.clusterIPs[0]']],
      [
        'a policy of no outside',
        { spec: { externalTrafficPolicy: 'Local' } },
        ['Invalid spec.externalTrafficPolicy'],
      ],
      [
        'a policy for another type, beside another fault',
        { spec: { externalTrafficPolicy: 'Local', sessionAffinity: 'Odd' } },
        ['NotSupported spec.sessionAffinity'],
      ],
      ['an unknown family', { spec: { ipFamilies: ['IPv5'] } }, ['NotSupported spec.ipFamilies[0]']],
      ['a name that begins with a digit', { metadata: { name: '9lives' } }, ['Invalid metadata.name']],
    ],
  },
  {
    kind: 'Endpoints',
    url: `${CORE}/endpoints`,
    good: { subsets: [{ addresses: [{ ip: '192.0.2.7', nodeName: 'n1' }], ports: [{ port: 80 }] }] },
    bad: [
      ['no address', { subsets: [{ ports: [{ port: 1 }] }] }, ['Required subsets[0]']],
      [
        'an address that is none',
        { subsets: [{ addresses: [{ ip: 'x' }] }] },
        ['Invalid subsets[0].addresses[0].ip'],
      ],
      [
        'a link-local address',
        { subsets: [{ addresses: [{ ip: 'fe80::1' }] }] },
        ['Invalid subsets[0].addresses[0].ip'],
      ],
      [
        'a bad address that is not ready',
        { subsets: [{ notReadyAddresses: [{ ip: '0.0.0.0' }] }] },
        ['Invalid subsets[0].notReadyAddresses[0].ip'],
      ],
      [
        'a bad host name',
        { subsets: [{ addresses: [{ ip: '192.0.2.1', hostname: 'a.b' }] }] },
        ['Invalid subsets[0].addresses[0].hostname'],
      ],
    ],
  },
  {
    kind: 'Node',
    url: '/api/v1/nodes',
    good: { spec: { podCIDRs: ['10.1.0.0/24'], podCIDR: '10.1.0.0/24', providerID: 'a' } },
    bad: [
      [
        'a taint without effect',
        { spec: { taints: [{ key: 'a' }] } },
        ['Required metadata.taints[0].effect'],
      ],
      [
        'an unknown effect',
        { spec: { taints: [{ key: 'a', effect: 'Odd' }] } },
        ['NotSupported metadata.taints[0].effect'],
      ],
      [
        'a taint twice',
        {
          spec: {
            taints: [
              { key: 'a', effect: 'NoExecute' },
              { key: 'a', effect: 'NoExecute', value: 'b' },
            ],
          },
        },
        ['Duplicate metadata.taints[1]'],
      ],
      [
        'negative capacity',
        { status: { capacity: { cpu: '-1' } } },
        ['Invalid status.allocatable.cpu', 'Invalid status.capacity.cpu'],
      ],
      ['half a pod', { status: { allocatable: { pods: '500m' } } }, ['Invalid status.allocatable.pods']],
    ],
    badChanges: [
      ['another provider', { spec: { providerID: 'b' } }, ['Forbidden spec.providerID']],
      ['another network', { spec: { podCIDR: '10.2.0.0/24' } }, ['Forbidden spec.podCIDRs']],
      ['another id', { spec: { externalID: 'x' } }, ['Forbidden spec.externalID']],
    ],
    goodChanges: [
      ['no more pods', { spec: { unschedulable: true } }],
      ['a network that the first one outweighs', { spec: { podCIDRs: ['10.2.0.0/24'] } }],
      ['a taint', { spec: { taints: [{ key: 'a', effect: 'NoExecute' }] } }],
    ],
  },
  {
    kind: 'ResourceQuota',
    url: `${CORE}/resourcequotas`,
    good: { spec: { hard: { pods: '10', 'requests.cpu': '4', 'count/deployments.apps': '5' } } },
    bad: [
      ['an unknown resource', { spec: { hard: { gold: '1' } } }, ['Invalid spec.hard[gold]']],
      ['plain storage', { spec: { hard: { storage: '1' } } }, ['Invalid spec.hard[storage]']],
      ['a negative amount', { spec: { hard: { cpu: '-1' } } }, ['Invalid spec.hard[cpu]']],
      ['half a pod', { spec: { hard: { pods: '500m' } } }, ['Invalid spec.hard[pods]']],
      ['an unknown scope', { spec: { scopes: ['Odd'] } }, ['Invalid spec.scopes']],
      [
        'scopes that exclude each other',
        { spec: { scopes: ['Terminating', 'NotTerminating'] } },
        ['Invalid spec.scopes'],
      ],
      ['a scope of pods alone for processors', { spec: { scopes: ['BestEffort'] } }, ['Invalid spec.scopes']],
      [
        'values where none belong',
        {
          spec: {
            scopeSelector: {
              matchExpressions: [{ scopeName: 'Terminating', operator: 'In', values: ['a'] }],
            },
          },
        },
        ['Invalid spec.scopeSelector.matchExpressions.operator'],
      ],
      [
        'no value where one belongs',
        { spec: { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In' }] } } },
        ['Required spec.scopeSelector.matchExpressions.values'],
      ],
    ],
    badChanges: [['another scope', { spec: { scopes: ['Terminating'] } }, ['Invalid spec.scopes']]],
    goodChanges: [['a larger amount', { spec: { hard: { pods: '20' } } }]],
  },
  {
    kind: 'LimitRange',
    url: `${CORE}/limitranges`,
    good: { spec: { limits: [{ type: 'Container', max: { cpu: '2' }, default: { cpu: '1' } }] } },
    bad: [
      ['an unknown type', { spec: { limits: [{ type: 'Odd' }] } }, ['Invalid spec.limits[0].type']],
      [
        'one type twice',
        { spec: { limits: [{ type: 'Pod' }, { type: 'Pod' }] } },
        ['Duplicate spec.limits[1].type'],
      ],
      [
        'a default for pods',
        { spec: { limits: [{ type: 'Pod', default: { cpu: '1' } }] } },
        ['Forbidden spec.limits[0].default'],
      ],
      [
        'a claim without limits',
        { spec: { limits: [{ type: 'PersistentVolumeClaim' }] } },
        ['Required spec.limits[0].limits'],
      ],
      [
        'a ratio below one',
        { spec: { limits: [{ type: 'Pod', maxLimitRequestRatio: { cpu: '500m' } }] } },
        ['Invalid spec.limits[0].maxLimitRequestRatio[cpu]'],
      ],
      [
        'a minimum above the maximum',
        { spec: { limits: [{ type: 'Pod', min: { cpu: '2' }, max: { cpu: '1' } }] } },
        ['Invalid spec.limits[0].min[cpu]'],
      ],
      [
        'a default above the maximum',
        {
          spec: {
            limits: [
              { type: 'Container', default: { cpu: '2' }, defaultRequest: { cpu: '1' }, max: { cpu: '1' } },
            ],
          },
        },
        ['Invalid spec.limits[0].default[cpu]'],
      ],
    ],
  },
];
