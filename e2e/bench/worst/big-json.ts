import type { WorstRequest } from './request';
import { filled, SPACE, TYPE } from './request';

const GROUPS = '/apis';

type Item = string | ((index: number) => string);
type Row = readonly [name: string, path: string, begin: string, item: Item, end: string];

const META = '"metadata":{"name":"w"}';
const POD = `${SPACE}/pods?dryRun=All`;
const SERVICE = `${SPACE}/services?dryRun=All`;
const CONFIGMAP = `${SPACE}/configmaps?dryRun=All`;
const SECRET = `${SPACE}/secrets?dryRun=All`;
const CONTAINER = '{"name":"c","image":"i"}';
const SSAR = `${GROUPS}/authorization.k8s.io/v1/selfsubjectaccessreviews`;

function namespaced(group: string, resource: string): string {
  return `${GROUPS}/${group}/namespaces/worst/${resource}?dryRun=All`;
}

function cluster(group: string, resource: string): string {
  return `${GROUPS}/${group}/${resource}?dryRun=All`;
}

/** Everything in one object: its list of a kind, its map, its text. */
const ROWS: readonly Row[] = [
  ['pod, empty containers', POD, `{${META},"spec":{"containers":[`, '{}', ']}}'],
  [
    'pod, least containers',
    POD,
    `{${META},"spec":{"containers":[`,
    numbered('{"name":"c#","image":"i"}'),
    ']}}',
  ],
  ['pod, one name in all containers', POD, `{${META},"spec":{"containers":[`, CONTAINER, ']}}'],
  ['pod, empty volumes', POD, `{${META},"spec":{"containers":[${CONTAINER}],"volumes":[`, '{}', ']}}'],
  [
    'pod, volumes',
    POD,
    `{${META},"spec":{"containers":[${CONTAINER}],"volumes":[`,
    numbered('{"name":"v#","emptyDir":{}}'),
    ']}}',
  ],
  ['pod, empty env', POD, `{${META},"spec":{"containers":[{"name":"c","image":"i","env":[`, '{}', ']}]}}'],
  [
    'pod, env',
    POD,
    `{${META},"spec":{"containers":[{"name":"c","image":"i","env":[`,
    numbered('{"name":"E#"}'),
    ']}]}}',
  ],
  [
    'pod, empty ports',
    POD,
    `{${META},"spec":{"containers":[{"name":"c","image":"i","ports":[`,
    '{}',
    ']}]}}',
  ],
  ['pod, args', POD, `{${META},"spec":{"containers":[{"name":"c","image":"i","args":[`, '""', ']}]}}'],
  [
    'pod, empty tolerations',
    POD,
    `{${META},"spec":{"containers":[${CONTAINER}],"tolerations":[`,
    '{}',
    ']}}',
  ],
  [
    'pod, tolerations',
    POD,
    `{${META},"spec":{"containers":[${CONTAINER}],"tolerations":[`,
    numbered('{"key":"k#"}'),
    ']}}',
  ],
  [
    'pod, spread constraints',
    POD,
    `{${META},"spec":{"containers":[${CONTAINER}],"topologySpreadConstraints":[`,
    numbered('{"maxSkew":1,"topologyKey":"k#","whenUnsatisfiable":"DoNotSchedule"}'),
    ']}}',
  ],
  [
    'pod, affinity terms',
    POD,
    `{${META},"spec":{"containers":[${CONTAINER}],"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[`,
    '{}',
    ']}}}}',
  ],
  [
    'pod, resources',
    POD,
    `{${META},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{`,
    numbered('"e/r#":"1"'),
    '}}}]}}',
  ],
  [
    'pod, long quantity',
    POD,
    `{${META},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"`,
    '1',
    '"}}}]}}',
  ],
  ['service, empty ports', SERVICE, `{${META},"spec":{"ports":[`, '{}', ']}}'],
  ['service, ports', SERVICE, `{${META},"spec":{"ports":[`, numbered('{"name":"p#","port":1}'), ']}}'],
  [
    'service, external addresses',
    SERVICE,
    `{${META},"spec":{"ports":[{"port":1}],"externalIPs":[`,
    '"1.2.3.4"',
    ']}}',
  ],
  [
    'endpoints, empty addresses',
    `${SPACE}/endpoints?dryRun=All`,
    `{${META},"subsets":[{"addresses":[`,
    '{}',
    ']}]}',
  ],
  [
    'endpoints, addresses',
    `${SPACE}/endpoints?dryRun=All`,
    `{${META},"subsets":[{"addresses":[`,
    '{"ip":"1.2.3.4"}',
    ']}]}',
  ],
  ['endpoints, empty subsets', `${SPACE}/endpoints?dryRun=All`, `{${META},"subsets":[`, '{}', ']}'],
  [
    'role, empty rules',
    namespaced('rbac.authorization.k8s.io/v1', 'roles'),
    `{${META},"rules":[`,
    '{}',
    ']}',
  ],
  [
    'role, rules',
    namespaced('rbac.authorization.k8s.io/v1', 'roles'),
    `{${META},"rules":[`,
    '{"verbs":["a"],"apiGroups":["b"],"resources":["c"]}',
    ']}',
  ],
  [
    'role binding, subjects',
    namespaced('rbac.authorization.k8s.io/v1', 'rolebindings'),
    `{${META},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[`,
    '{"kind":"User","name":"u"}',
    ']}',
  ],
  ['configmap, keys', CONFIGMAP, `{${META},"data":{`, numbered('"#":""'), '}}'],
  ['configmap, one value', CONFIGMAP, `{${META},"data":{"k":"`, 'x', '"}}'],
  ['configmap, one value of escapes', CONFIGMAP, `{${META},"data":{"k":"`, String.raw`\u0041`, '"}}'],
  [
    'configmap, one value of broken surrogates',
    CONFIGMAP,
    `{${META},"data":{"k":"`,
    String.raw`\ud800`,
    '"}}',
  ],
  ['configmap, one value of line ends', CONFIGMAP, `{${META},"data":{"k":"`, String.raw`\n`, '"}}'],
  ['configmap, binary keys', CONFIGMAP, `{${META},"binaryData":{`, numbered('"#":""'), '}}'],
  ['configmap, one binary value', CONFIGMAP, `{${META},"binaryData":{"k":"`, 'AAAA', '"}}'],
  ['configmap, unknown numbers', CONFIGMAP, `{${META},"a":[`, '0', ']}'],
  ['configmap, one long number', CONFIGMAP, `{${META},"a":`, '1', '}'],
  ['configmap, numbers with exponents', CONFIGMAP, `{${META},"a":[`, '1e9', ']}'],
  ['configmap, unknown objects', CONFIGMAP, `{${META},"a":[`, '{}', ']}'],
  ['configmap, unknown fields', CONFIGMAP, `{${META},`, numbered('"u#":0'), '}'],
  [
    'configmap, unknown fields, strict',
    `${CONFIGMAP}&fieldValidation=Strict`,
    `{${META},`,
    numbered('"u#":0'),
    '}',
  ],
  ['configmap, repeated field, strict', `${CONFIGMAP}&fieldValidation=Strict`, `{${META},`, '"u":0', '}'],
  [
    'configmap, repeated keys, strict',
    `${CONFIGMAP}&fieldValidation=Strict`,
    `{${META},"data":{`,
    numbered('"#":""', 1_000),
    '}}',
  ],
  [
    'pod, unknown fields in containers, warned of',
    `${POD}&fieldValidation=Warn`,
    `{${META},"spec":{"containers":[`,
    '{"a":0,"a":0}',
    ']}}',
  ],
  ['configmap, white space', CONFIGMAP, `{${META}`, '  ', '}'],
  ['configmap, no end', CONFIGMAP, `{${META},"a":[`, '0', ''],
  ['secret, keys', SECRET, `{${META},"data":{`, numbered('"#":""'), '}}'],
  ['secret, text keys', SECRET, `{${META},"stringData":{`, numbered('"#":""'), '}}'],
  ['labels', CONFIGMAP, '{"metadata":{"name":"w","labels":{', numbered('"#":""'), '}}}'],
  ['bad labels', CONFIGMAP, '{"metadata":{"name":"w","labels":{', numbered('"-#":"-"'), '}}}'],
  ['annotations', CONFIGMAP, '{"metadata":{"name":"w","annotations":{', numbered('"#":""'), '}}}'],
  ['finalizers', CONFIGMAP, '{"metadata":{"name":"w","finalizers":[', numbered('"a/#"'), ']}}'],
  ['ownerReferences, empty', CONFIGMAP, '{"metadata":{"name":"w","ownerReferences":[', '{}', ']}}'],
  [
    'ownerReferences',
    CONFIGMAP,
    '{"metadata":{"name":"w","ownerReferences":[',
    numbered('{"apiVersion":"v1","kind":"Pod","name":"p#","uid":"#"}'),
    ']}}',
  ],
  ['managedFields, empty', CONFIGMAP, '{"metadata":{"name":"w","managedFields":[', '{}', ']}}'],
  [
    'managedFields, managers',
    CONFIGMAP,
    '{"metadata":{"name":"w","managedFields":[',
    numbered('{"manager":"m#","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{}}'),
    ']}}',
  ],
  [
    'managedFields, fields',
    CONFIGMAP,
    '{"metadata":{"name":"w","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{',
    numbered('"f:#":{}'),
    '}}}]}}',
  ],
  ['long name', CONFIGMAP, '{"metadata":{"name":"', 'a', '"}}'],
  ['long generateName', CONFIGMAP, '{"metadata":{"generateName":"', 'a', '"}}'],
  [
    'taints',
    '/api/v1/nodes?dryRun=All',
    `{${META},"spec":{"taints":[`,
    numbered('{"key":"k#","effect":"NoSchedule"}'),
    ']}}',
  ],
  ['node images', '/api/v1/nodes?dryRun=All', `{${META},"status":{"images":[`, '{"names":["a"]}', ']}}'],
  [
    'quota',
    `${SPACE}/resourcequotas?dryRun=All`,
    `{${META},"spec":{"hard":{`,
    numbered('"count/#":"1"'),
    '}}}',
  ],
  ['limits', `${SPACE}/limitranges?dryRun=All`, `{${META},"spec":{"limits":[`, '{"type":"a/b"}', ']}}'],
  [
    'service account, secrets',
    `${SPACE}/serviceaccounts?dryRun=All`,
    `{${META},"secrets":[`,
    '{"name":"a"}',
    ']}',
  ],
  [
    'ingress, rules',
    namespaced('networking.k8s.io/v1', 'ingresses'),
    `{${META},"spec":{"rules":[`,
    '{"host":"a"}',
    ']}}',
  ],
  [
    'ingress v1beta1, paths',
    namespaced('networking.k8s.io/v1beta1', 'ingresses'),
    `{${META},"spec":{"rules":[{"http":{"paths":[`,
    '{"path":"/","backend":{"serviceName":"s","servicePort":1}}',
    ']}}]}}',
  ],
  [
    'network policy, rules',
    namespaced('networking.k8s.io/v1', 'networkpolicies'),
    `{${META},"spec":{"podSelector":{},"ingress":[`,
    '{}',
    ']}}',
  ],
  [
    'network policy, requirements',
    namespaced('networking.k8s.io/v1', 'networkpolicies'),
    `{${META},"spec":{"podSelector":{"matchExpressions":[`,
    '{"key":"a","operator":"Exists"}',
    ']}}}',
  ],
  [
    'deployment, containers',
    namespaced('apps/v1', 'deployments'),
    `{${META},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[`,
    '{}',
    ']}}}}',
  ],
  [
    'stateful set, claims',
    namespaced('apps/v1', 'statefulsets'),
    `{${META},"spec":{"serviceName":"s","selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[${CONTAINER}]}},"volumeClaimTemplates":[`,
    '{}',
    ']}}',
  ],
  [
    'autoscaler, metrics',
    namespaced('autoscaling/v2beta2', 'horizontalpodautoscalers'),
    `{${META},"spec":{"maxReplicas":1,"scaleTargetRef":{"kind":"a","name":"b"},"metrics":[`,
    '{"type":"Resource"}',
    ']}}',
  ],
  [
    'endpoint slice, endpoints',
    namespaced('discovery.k8s.io/v1', 'endpointslices'),
    `{${META},"addressType":"IPv4","endpoints":[`,
    '{}',
    ']}',
  ],
  [
    'webhooks',
    cluster('admissionregistration.k8s.io/v1', 'validatingwebhookconfigurations'),
    `{${META},"webhooks":[`,
    numbered('{"name":"a.b.c#"}'),
    ']}',
  ],
  [
    'flow schema, rules',
    cluster('flowcontrol.apiserver.k8s.io/v1beta1', 'flowschemas'),
    `{${META},"spec":{"priorityLevelConfiguration":{"name":"a"},"rules":[`,
    '{}',
    ']}}',
  ],
  [
    'event',
    `${SPACE}/events?dryRun=All`,
    `{${META},"involvedObject":{"namespace":"worst"},"message":"`,
    'x',
    '"}',
  ],
  [
    'CSR, usages',
    cluster('certificates.k8s.io/v1', 'certificatesigningrequests'),
    `{${META},"spec":{"signerName":"a.b/c","request":"","usages":[`,
    '"client auth"',
    ']}}',
  ],
  [
    'CSR, request',
    cluster('certificates.k8s.io/v1', 'certificatesigningrequests'),
    `{${META},"spec":{"signerName":"a.b/c","usages":["client auth"],"request":"`,
    'AAAA',
    '"}}',
  ],
  [
    'access review, ownerReferences',
    SSAR,
    '{"metadata":{"ownerReferences":[',
    '{}',
    ']},"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}',
  ],
  [
    'access review, groups',
    `${GROUPS}/authorization.k8s.io/v1/subjectaccessreviews`,
    '{"spec":{"user":"u","resourceAttributes":{"verb":"get","resource":"pods"},"groups":[',
    '"g"',
    ']}}',
  ],
  [
    'access review, extra',
    `${GROUPS}/authorization.k8s.io/v1/subjectaccessreviews`,
    '{"spec":{"user":"u","resourceAttributes":{"verb":"get","resource":"pods"},"extra":{',
    numbered('"#":[""]'),
    '}}}',
  ],
  [
    'rules review, unknown',
    `${GROUPS}/authorization.k8s.io/v1/selfsubjectrulesreviews`,
    '{"spec":{"namespace":"a"},"b":[',
    '{}',
    ']}',
  ],
  [
    'token review, token',
    `${GROUPS}/authentication.k8s.io/v1/tokenreviews`,
    '{"spec":{"token":"',
    'eyJ.',
    '"}}',
  ],
  [
    'token review, audiences',
    `${GROUPS}/authentication.k8s.io/v1/tokenreviews`,
    '{"spec":{"token":"a","audiences":[',
    '""',
    ']}}',
  ],
];

export const BIG_JSON: readonly WorstRequest[] = [
  ...ROWS.map(([name, path, begin, item, end]) => {
    const between = /value|long|white|name$|^event|token$|request$|quantity/u.test(name) ? '' : ',';
    return post(`JSON: ${name}`, path, () => filled({ begin, item, between, end }));
  }),
  ...[9_000, 300_000].map((depth) =>
    post(
      `JSON: unknown lists, ${String(depth)} deep`,
      CONFIGMAP,
      () => `{${META},"a":${'['.repeat(depth)}${']'.repeat(depth)}}`,
    ),
  ),
  post(
    'JSON: unknown objects, deep',
    CONFIGMAP,
    () => `{${META},"a":${'{"a":'.repeat(9_000)}0${'}'.repeat(9_000)}}`,
  ),
  post('JSON: many lists, 9,000 deep', CONFIGMAP, () =>
    filled({ begin: `{${META},"a":[`, item: '['.repeat(9_000) + ']'.repeat(9_000), end: ']}' }),
  ),
];

function post(name: string, path: string, text: () => string): WorstRequest {
  return {
    name,
    method: 'POST',
    path,
    headers: { 'content-type': TYPE.json },
    body: () => Buffer.from(text()),
  };
}

/** `#` is the number of the item, again from the start after so many. */
export function numbered(text: string, modulus = Infinity): (index: number) => string {
  return (index) => text.replaceAll('#', String(index % modulus));
}
