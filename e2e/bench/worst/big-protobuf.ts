import type { WorstRequest } from './request';
import { BODY_BYTES_MAX, SPACE, TYPE } from './request';

const MAGIC = Buffer.from('k8s\0');
/** Space for the envelope and the parts around the items. */
const AROUND_BYTES = 1_000;

/** A field of bytes: number, length, content. */
function field(number: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

function varint(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

/** Just below the limit of one message. */
const VALUES_MAX = 249_000;

/** The limit on the event loop, including the envelope. */
const LOOP_VALUES_MAX = 1_480;

/** The same field as often as a body or the server allows. */
function many(number: number, content: Buffer | string, times = VALUES_MAX): Buffer {
  const item = field(number, content);
  const room = Math.floor((BODY_BYTES_MAX - AROUND_BYTES) / item.length);
  return Buffer.alloc(Math.min(times, room) * item.length, item);
}

function object(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const type = field(1, Buffer.concat([field(1, apiVersion), field(2, kind)]));
  return Buffer.concat([MAGIC, type, field(2, raw)]);
}

const NAME = field(1, 'w');
const META = field(1, NAME);
const CONFIGMAP = `${SPACE}/configmaps?dryRun=All`;
const POD = `${SPACE}/pods?dryRun=All`;

type Row = readonly [
  name: string,
  path: string,
  apiVersion: string,
  kind: string,
  raw: (times?: number) => Buffer,
];

const ROWS: readonly Row[] = [
  [
    'pod, too many containers',
    POD,
    'v1',
    'Pod',
    () => Buffer.concat([META, field(2, many(2, '', Infinity))]),
  ],
  ['pod, empty containers', POD, 'v1', 'Pod', (times) => Buffer.concat([META, field(2, many(2, '', times))])],
  [
    'pod, containers',
    POD,
    'v1',
    'Pod',
    (times) => Buffer.concat([META, field(2, many(2, field(1, 'c'), times))]),
  ],
  ['pod, empty volumes', POD, 'v1', 'Pod', (times) => Buffer.concat([META, field(2, many(1, '', times))])],
  [
    'pod, empty env',
    POD,
    'v1',
    'Pod',
    (times) => Buffer.concat([META, field(2, field(2, many(7, '', times)))]),
  ],
  [
    'service, empty ports',
    `${SPACE}/services?dryRun=All`,
    'v1',
    'Service',
    (times) => Buffer.concat([META, field(2, many(1, '', times))]),
  ],
  [
    'endpoints, empty subsets',
    `${SPACE}/endpoints?dryRun=All`,
    'v1',
    'Endpoints',
    (times) => Buffer.concat([META, many(2, '', times)]),
  ],
  [
    'endpoints, empty addresses',
    `${SPACE}/endpoints?dryRun=All`,
    'v1',
    'Endpoints',
    (times) => Buffer.concat([META, field(2, many(1, '', times))]),
  ],
  [
    'role, empty rules',
    '/apis/rbac.authorization.k8s.io/v1/namespaces/worst/roles?dryRun=All',
    'rbac.authorization.k8s.io/v1',
    'Role',
    (times) => Buffer.concat([META, many(2, '', times)]),
  ],
  [
    'configmap, one empty key',
    CONFIGMAP,
    'v1',
    'ConfigMap',
    (times) => Buffer.concat([META, many(2, '', times)]),
  ],
  [
    'ownerReferences, empty',
    CONFIGMAP,
    'v1',
    'ConfigMap',
    (times) => field(1, Buffer.concat([NAME, many(13, '', times)])),
  ],
  [
    'managedFields, empty',
    CONFIGMAP,
    'v1',
    'ConfigMap',
    (times) => field(1, Buffer.concat([NAME, many(17, '', times)])),
  ],
  [
    'finalizers, empty',
    CONFIGMAP,
    'v1',
    'ConfigMap',
    (times) => field(1, Buffer.concat([NAME, many(14, '', times)])),
  ],
  ['metadata again and again', CONFIGMAP, 'v1', 'ConfigMap', (times) => many(1, '', times)],
  ['unknown fields', CONFIGMAP, 'v1', 'ConfigMap', (times) => Buffer.concat([META, many(15, '', times)])],
  [
    'one value',
    CONFIGMAP,
    'v1',
    'ConfigMap',
    () =>
      Buffer.concat([META, field(2, Buffer.concat([field(1, 'k'), field(2, Buffer.alloc(3_000_000, 'x'))]))]),
  ],
  [
    'definition, deep schema',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    () => {
      let schema = field(5, 'object');
      for (let depth = 0; depth < 5_000; depth++) schema = field(30, schema);
      return Buffer.concat([
        META,
        field(2, field(7, Buffer.concat([field(1, 'v1'), field(4, field(1, schema))]))),
      ]);
    },
  ],
  [
    'access review, empty ownerReferences',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    'authorization.k8s.io/v1',
    'SelfSubjectAccessReview',
    (times) => field(1, many(13, '', times)),
  ],
];

export const BIG_PROTOBUF: readonly WorstRequest[] = ROWS.map((row) => protobuf('Protobuf', row));

/** Few enough values to be processed on the event loop. */
export const SMALL_PROTOBUF: readonly WorstRequest[] = ROWS.filter(([, , , , raw]) => raw.length > 0).map(
  (row) => protobuf('Protobuf within the bounds', row, LOOP_VALUES_MAX),
);

function protobuf(what: string, [name, path, apiVersion, kind, raw]: Row, times?: number): WorstRequest {
  return {
    name: `${what}: ${name}`,
    method: 'POST',
    path,
    headers: { 'content-type': TYPE.protobuf },
    body: () => object(apiVersion, kind, raw(times)),
  };
}
