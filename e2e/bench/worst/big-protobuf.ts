import type { WorstRequest } from './request';
import { BODY_BYTES_MAX, SPACE, TYPE } from './request';

const MAGIC = Buffer.from('k8s\0');
/** Room for the envelope and what is around the items. */
const AROUND_BYTES = 1_000;

/** A field of bytes: number, length, content. */
function field(number: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

function varint(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

/** Just below what the server reads of one message. */
const VALUES_MAX = 249_000;

/** The same field as often as a body can hold it, or as the server reads it. */
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

type Row = readonly [name: string, path: string, apiVersion: string, kind: string, raw: () => Buffer];

const ROWS: readonly Row[] = [
  [
    'pod, too many containers',
    POD,
    'v1',
    'Pod',
    () => Buffer.concat([META, field(2, many(2, '', Infinity))]),
  ],
  ['pod, empty containers', POD, 'v1', 'Pod', () => Buffer.concat([META, field(2, many(2, ''))])],
  ['pod, containers', POD, 'v1', 'Pod', () => Buffer.concat([META, field(2, many(2, field(1, 'c')))])],
  ['pod, empty volumes', POD, 'v1', 'Pod', () => Buffer.concat([META, field(2, many(1, ''))])],
  ['pod, empty env', POD, 'v1', 'Pod', () => Buffer.concat([META, field(2, field(2, many(7, '')))])],
  [
    'service, empty ports',
    `${SPACE}/services?dryRun=All`,
    'v1',
    'Service',
    () => Buffer.concat([META, field(2, many(1, ''))]),
  ],
  [
    'endpoints, empty subsets',
    `${SPACE}/endpoints?dryRun=All`,
    'v1',
    'Endpoints',
    () => Buffer.concat([META, many(2, '')]),
  ],
  [
    'endpoints, empty addresses',
    `${SPACE}/endpoints?dryRun=All`,
    'v1',
    'Endpoints',
    () => Buffer.concat([META, field(2, many(1, ''))]),
  ],
  [
    'role, empty rules',
    '/apis/rbac.authorization.k8s.io/v1/namespaces/worst/roles?dryRun=All',
    'rbac.authorization.k8s.io/v1',
    'Role',
    () => Buffer.concat([META, many(2, '')]),
  ],
  ['configmap, one empty key', CONFIGMAP, 'v1', 'ConfigMap', () => Buffer.concat([META, many(2, '')])],
  [
    'ownerReferences, empty',
    CONFIGMAP,
    'v1',
    'ConfigMap',
    () => field(1, Buffer.concat([NAME, many(13, '')])),
  ],
  ['managedFields, empty', CONFIGMAP, 'v1', 'ConfigMap', () => field(1, Buffer.concat([NAME, many(17, '')]))],
  ['finalizers, empty', CONFIGMAP, 'v1', 'ConfigMap', () => field(1, Buffer.concat([NAME, many(14, '')]))],
  ['metadata again and again', CONFIGMAP, 'v1', 'ConfigMap', () => many(1, '')],
  ['unknown fields', CONFIGMAP, 'v1', 'ConfigMap', () => Buffer.concat([META, many(15, '')])],
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
    () => field(1, many(13, '')),
  ],
];

export const BIG_PROTOBUF: readonly WorstRequest[] = ROWS.map(([name, path, apiVersion, kind, raw]) => ({
  name: `Protobuf: ${name}`,
  method: 'POST',
  path,
  headers: { 'content-type': TYPE.protobuf },
  body: () => object(apiVersion, kind, raw()),
}));
