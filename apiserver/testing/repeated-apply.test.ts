import { GROUP, MEDIA_TYPE } from '../../shared/names';
import type { JsonObject } from '../../shared/object/clone';
import { isJsonObject } from '../../shared/object/clone';
import { decodeObject } from '../../shared/schema/decode';
import type { FieldType, MessageType } from '../../shared/schema/types';
import type { Endpoint } from '../engine/registry/resource';
import { define, definitionBody, gizmo, GIZMOS_PATH } from './custom-resources/definitions';
import type { InProcessApi, Reply } from './in-process-api';
import { startInProcessApi } from './in-process-api';
import { minimalObject } from './minimal-objects';
import { ALL_KINDS, collectionOf, endpointOf, STORED_ROWS } from './stored-rows';

/** A write that changes nothing stores nothing, however the client writes the same object. */

const ROWS = STORED_ROWS.filter(({ verbs }) => verbs.includes('patch'));

let api: InProcessApi;
let nowMs = Date.UTC(2021, 0, 1);

beforeAll(async () => {
  // Only dates are faked: a new time in managedFields must not hide in the same second.
  jest.useFakeTimers({
    doNotFake: [
      'nextTick',
      'setImmediate',
      'clearImmediate',
      'setTimeout',
      'clearTimeout',
      'setInterval',
      'clearInterval',
      'performance',
      'queueMicrotask',
      'hrtime',
    ],
  });
  jest.setSystemTime(nowMs);
  opened.push((api = await startInProcessApi(undefined, ALL_KINDS)));
});
afterAll(async () => {
  jest.useRealTimers();
  for (const each of opened) await each.close();
});

const opened: InProcessApi[] = [];

/** One value that a client may write in a field that has none. */
type Zero = (field: FieldType) => unknown;

const ZEROS: Readonly<Record<string, Zero>> = {
  null: () => null,
  empty: ({ list, map, kind }) => {
    if (list) return [];
    if (map || kind === 'message') return {};
    return {
      string: '',
      bytes: '',
      bool: false,
      int32: 0,
      int64: 0,
      double: 0,
      quantity: '0',
      stringList: [],
    }[kind as 'string'];
  },
  'null item': ({ list, map, kind }) => {
    if (kind !== 'string') return undefined;
    return list ? [null] : map ? { k: null } : undefined;
  },
};

interface Variation {
  readonly what: string;
  readonly config: JsonObject;
}

/**
 * The object with one zero value more, for each field of each message in it that was not tried before. The key of
 * a list item stays: another key names another item.
 */
function* variations(
  type: MessageType,
  object: JsonObject,
  keys: readonly string[] = [],
): Generator<Variation> {
  for (const field of type.fields) {
    const given = object[field.name];
    const wrap = (value: unknown): JsonObject => ({ ...object, [field.name]: value });
    if (given === undefined || given === null) {
      if (!keys.includes(field.name)) yield* zeros(type, field, wrap);
      continue;
    }
    const { message, kind, list, map } = field;
    if (kind !== 'message' || message === undefined) continue;
    if (list) {
      const [first, ...rest] = given as readonly JsonObject[];
      if (first === undefined) continue;
      const keysBelow = field.listMapKeys ?? [field.patchMergeKey ?? ''];
      yield* within(field.name, variations(message, first, keysBelow), (changed) => wrap([changed, ...rest]));
    } else if (isJsonObject(given) && !map) yield* within(field.name, variations(message, given), wrap);
  }
}

const seen = new Set<string>();

function* zeros(
  type: MessageType,
  field: FieldType,
  wrap: (value: unknown) => JsonObject,
): Generator<Variation> {
  for (const [name, zero] of Object.entries(ZEROS)) {
    const key = `${type.name} ${field.name} ${name}`;
    const value = zero(field);
    if (seen.has(key) || value === undefined) continue;
    seen.add(key);
    yield { what: `${field.name}: ${JSON.stringify(value)}`, config: wrap(value) };
  }
}

function* within(
  name: string,
  inner: Generator<Variation>,
  put: (changed: JsonObject) => JsonObject,
): Generator<Variation> {
  for (const { what, config } of inner) yield { what: `${name}.${what}`, config: put(config) };
}

async function apply(url: string, config: object, query = ''): Promise<Reply> {
  jest.setSystemTime((nowMs += 2_000));
  return api.call('PATCH', `${url}?force=true${query === '' ? '&fieldManager=m' : query}`, {
    body: config,
    headers: { 'content-type': MEDIA_TYPE.applyPatch },
  });
}

/** Why the second of two equal writes is not the same as the first; undefined if it is, or if both are refused. */
async function problemOf(send: () => Promise<Reply>): Promise<string | undefined> {
  const first = await send();
  if (first.code >= 400) return undefined;
  applied += 1;
  const again = await send();
  if (again.text === first.text) return undefined;
  return `${String(again.code)} ${again.text}\n    instead of ${first.text}`;
}

let applied = 0;

async function remove({ row }: Endpoint, url: string): Promise<void> {
  await api.call('PATCH', url, { body: { metadata: { finalizers: null } } });
  const { json } = await api.call('DELETE', `${url}?gracePeriodSeconds=0`);
  await api.call('PATCH', url, { body: { metadata: { finalizers: null } } });
  if (row.resource !== 'namespaces') return;
  await api.call('PUT', `${url}/finalize`, { body: { ...json, spec: { finalizers: [] } } });
}

/** A write by another manager, two seconds later. */
async function write(method: string, url: string, body: object, type = 'application/json'): Promise<Reply> {
  jest.setSystemTime((nowMs += 2_000));
  return api.call(method, `${url}?fieldManager=other`, { body, headers: { 'content-type': type } });
}

describe('a repeated write stores nothing', () => {
  test.each(ROWS.map(({ schema }) => schema))('%s', async (schema) => {
    const endpoint = endpointOf(api, schema);
    const { row, apiVersion, type } = endpoint;
    const typeMeta = { apiVersion, kind: row.kind };
    const minimal = { ...minimalObject(row, 'default'), ...typeMeta } as unknown as JsonObject;
    const typed = { ...decodeObject(type, minimal).object, ...typeMeta } as unknown as JsonObject;
    const url = `${collectionOf(row)}/${(minimal['metadata'] as { name: string }).name}`;
    const problems: string[] = [];
    const configs: Variation[] = [
      { what: 'the minimal object', config: minimal },
      { what: 'the object as a typed client writes it', config: typed },
      { what: 'an empty status', config: { ...minimal, status: {} } },
      { what: 'a null status', config: { ...minimal, status: null } },
      ...variations(type, minimal),
    ];
    for (const { what, config } of configs) {
      const problem = await problemOf(async () => apply(url, { ...config, ...typeMeta }));
      if (problem !== undefined) problems.push(`apply of ${what}: ${problem}`);
    }
    await apply(url, minimal);
    for (const body of [minimal, typed]) {
      for (const [method, contentType] of WRITES) {
        const problem = await problemOf(async () => write(method, url, body, contentType));
        if (problem !== undefined) problems.push(`${method} ${contentType}: ${problem}`);
      }
    }
    await remove(endpoint, url);
    expect(problems).toEqual([]);
  });

  test('nearly all variations are accepted', () => {
    process.stdout.write(`written twice: ${String(applied)}, with ${String(seen.size)} zero values\n`);
    expect(applied).toBeGreaterThan(seen.size);
  });
});

const WRITES = [
  ['PUT', 'application/json'],
  ['PATCH', 'application/merge-patch+json'],
  ['PATCH', MEDIA_TYPE.strategicMergePatch],
] as const;

const CORE = '/api/v1/namespaces/default';
const POD = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'spelled' } };
const pod = (container: object, spec: object = {}): object => ({
  ...POD,
  spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec },
});
const LEASE = { apiVersion: `${GROUP.coordination}/v1`, kind: 'Lease', metadata: { name: 'spelled' } };
const LEASES = `/apis/${GROUP.coordination}/v1/namespaces/default/leases`;

describe('a value in another spelling stores nothing', () => {
  test.each<[what: string, url: string, config: object, others: readonly object[]]>([
    [
      'a quantity',
      `${CORE}/pods/spelled`,
      pod({ resources: { requests: { cpu: '1', memory: '1Gi' } } }),
      [
        pod({ resources: { requests: { cpu: 1, memory: '1024Mi' } } }),
        pod({ resources: { requests: { cpu: '1000m', memory: '1048576Ki' } } }),
      ],
    ],
    [
      'a number',
      `${CORE}/pods/spelled`,
      pod({}, { terminationGracePeriodSeconds: 30 }),
      [pod({}, { terminationGracePeriodSeconds: 3e1 })],
    ],
    [
      'a time',
      `${LEASES}/spelled`,
      { ...LEASE, spec: { renewTime: '2021-01-02T03:04:05.000000Z' } },
      [
        { ...LEASE, spec: { renewTime: '2021-01-02T03:04:05.000Z' } },
        { ...LEASE, spec: { renewTime: '2021-01-02T04:04:05.000000+01:00' } },
      ],
    ],
    [
      'bytes',
      `${CORE}/secrets/spelled`,
      { ...POD, kind: 'Secret', data: { a: 'aGVsbG8=' } },
      [{ ...POD, kind: 'Secret', data: { a: 'aGVs\nbG8=' } }],
    ],
    ['text for bytes', `${CORE}/secrets/spelled`, { ...POD, kind: 'Secret', stringData: { a: 'x' } }, []],
    [
      'the order of items',
      `${CORE}/pods/spelled`,
      pod({ env: [{ name: 'A' }, { name: 'B' }] }),
      [pod({ env: [{ name: 'B' }, { name: 'A' }] })],
    ],
  ])('%s', async (_what, url, config, others) => {
    const first = await apply(url, config);
    expect(first.code).toBe(201);
    for (const other of [config, ...others, config]) expect((await apply(url, other)).text).toBe(first.text);
    await api.call('DELETE', `${url}?gracePeriodSeconds=0`);
  });
});

test('an apply after items that repeat a key, and a repeated one by each of two managers, store nothing', async () => {
  const url = `${CORE}/pods/spelled`;
  const env = [
    { name: 'A', value: '1' },
    { name: 'A', value: '2' },
  ];
  expect((await write('POST', `${CORE}/pods`, pod({ env }))).code).toBe(201);
  const label = (name: string): object => ({
    ...POD,
    metadata: { name: 'spelled', labels: { [name]: 'x' } },
  });
  await apply(url, label('a'));
  const both = await apply(url, label('b'), '&fieldManager=second');
  expect(both.code).toBe(200);
  const last = await apply(url, pod({ env: [] }));
  expect(last.json.spec.containers[0].env).toEqual(env);
  for (const [config, query] of [
    [label('b'), '&fieldManager=second'],
    [pod({ env: [] }), ''],
    [label('b'), '&fieldManager=second'],
  ] as const) {
    expect((await apply(url, config, query)).text).toBe(last.text);
  }
});

test('a repeated apply of a status, or of one in the object itself, stores nothing', async () => {
  const kind = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'spelled' } };
  const status = {
    conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: null }],
    capacity: { cpu: '4000m' },
  };
  await apply('/api/v1/nodes/spelled', kind);
  for (const url of ['/api/v1/nodes/spelled', '/api/v1/nodes/spelled/status']) {
    expect(await problemOf(async () => apply(url, { ...kind, status }))).toBeUndefined();
  }
});

test('a repeated apply of a custom resource stores nothing, in each version', async () => {
  const properties = {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', default: 1 },
        ratio: { type: 'number' },
        port: { 'x-kubernetes-int-or-string': true },
        note: { type: 'string', nullable: true },
        tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', properties: { phase: { type: 'string' } } },
  };
  const schema = { type: 'object', properties };
  const subresources = { status: {} };
  // In the other server no controller of definitions writes in between.
  opened.push((api = await startInProcessApi()));
  await define(
    api,
    definitionBody({ versions: ['v1', 'v2'].map((name) => ({ name, schema, subresources })) }),
  );
  const configs: readonly object[] = [
    {},
    { spec: {} },
    { spec: null },
    { status: {} },
    { status: { phase: 'x' } },
    { metadata: { name: 'g', creationTimestamp: null, labels: {}, annotations: null } },
    { spec: { size: null, note: null, tags: [], free: { a: null, b: {}, c: [] } } },
    { spec: { ratio: 1.0, size: 1, port: '80' } },
    { spec: { tags: ['b', 'a'], note: '' } },
  ];
  const problems: string[] = [];
  for (const version of ['v1', 'v2', 'v1']) {
    const url = `${GIZMOS_PATH.replace('/v1/', `/${version}/`)}/g`;
    for (const config of configs) {
      const body = { ...gizmo('g'), ...config, apiVersion: `example.com/${version}` };
      const problem = await problemOf(async () => apply(url, body));
      if (problem !== undefined) problems.push(`${version} ${JSON.stringify(config)}: ${problem}`);
    }
  }
  expect(problems).toEqual([]);
});
