import type { Row, WorstRequest } from './request';
import { largestWithin } from './within-bounds';
import { BODY_BYTES_MAX, CONTAINER, filled, META, numbered, post, SPACE, TYPE } from './request';
import { GROUP_ROWS } from './group-rows';

const POD = `${SPACE}/pods?dryRun=All`;
const SERVICE = `${SPACE}/services?dryRun=All`;
const CONFIGMAP = `${SPACE}/configmaps?dryRun=All`;
const SECRET = `${SPACE}/secrets?dryRun=All`;

/** One object with a large list, map and text. */
const CORE_ROWS: readonly Row[] = [
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
    'event',
    `${SPACE}/events?dryRun=All`,
    `{${META},"involvedObject":{"namespace":"worst"},"message":"`,
    'x',
    '"}',
  ],
];

const ROWS: readonly Row[] = [...CORE_ROWS, ...GROUP_ROWS];

export const BIG_JSON: readonly WorstRequest[] = [
  ...ROWS.map((row) => json(`JSON: ${row[0]}`, row[1], () => textOf(row))),
  ...[9_000, 300_000].map((depth) =>
    json(
      `JSON: unknown lists, ${String(depth)} deep`,
      CONFIGMAP,
      () => `{${META},"a":${'['.repeat(depth)}${']'.repeat(depth)}}`,
    ),
  ),
  json(
    'JSON: unknown objects, deep',
    CONFIGMAP,
    () => `{${META},"a":${'{"a":'.repeat(9_000)}0${'}'.repeat(9_000)}}`,
  ),
  json('JSON: many lists, 9,000 deep', CONFIGMAP, () =>
    filled({ begin: `{${META},"a":[`, item: '['.repeat(9_000) + ']'.repeat(9_000), end: ']}' }),
  ),
];

/** The largest bodies that are processed on the event loop. */
export const SMALL_JSON: readonly WorstRequest[] = ROWS.map((row) =>
  json(`JSON within the bounds: ${row[0]}`, row[1], () => largestWithin((bytes) => textOf(row, bytes))),
);

function textOf([name, _path, begin, item, end]: Row, bytes = BODY_BYTES_MAX): string {
  const between = /value|long|white|name$|^event|token$|request$|quantity/u.test(name) ? '' : ',';
  return filled({ begin, item, between, end, bytes });
}

function json(name: string, path: string, text: () => string): WorstRequest {
  return post(name, path, [TYPE.json, text]);
}
