import { silentLog } from '../../../shared/log/log';
import { GROUP } from '../../../shared/names';
import { eventually, patience } from '../../../shared/testing/eventually';
import { loadAtLevel } from '../../../shared/testing/load-at-level';
import type * as InProcessApis from '../../testing/in-process-api';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { parseYaml } from '../../engine/encoding/yaml';
import { valueOf } from '../../engine/storage/backend';
import { createFirstObjects } from './first-objects';
import { createFlowObjects } from './flow-objects';
import type * as FlowObjectsModule from './flow-objects';

const URL = `/apis/${GROUP.flowcontrol}/v1beta1`;
const TABLE = { accept: 'application/json;as=Table;g=meta.orch;v=v1' };

let api: InProcessApi;

beforeEach(async () => {
  api = await startInProcessApi();
  await createFirstObjects(api.plane.store, api.plane.registry(), patience());
});

afterEach(async () => {
  await api.close();
});

async function reconcile(isBootstrapped = () => true): Promise<void> {
  const { store, registry } = api.plane;
  const { resourceVersion } = (await api.call('GET', `${URL}/flowschemas`)).json.metadata;
  // The write is in the cache by now.
  expect(Number(resourceVersion)).toBeGreaterThan(0);
  await createFlowObjects({ store, registry, isBootstrapped, log: silentLog }).reconcile(patience());
}

async function conditionsOf(name: string): Promise<readonly object[]> {
  return (await api.call('GET', `${URL}/flowschemas/${name}`)).json.status?.conditions ?? [];
}

test('every schema reports in its status whether its priority level exists', async () => {
  const spec = { priorityLevelConfiguration: { name: 'missing' }, matchingPrecedence: 50 };
  expect(
    (await api.call('POST', `${URL}/flowschemas`, { body: { metadata: { name: 'own' }, spec } })).code,
  ).toBe(201);
  await reconcile();
  const about = 'This FlowSchema references the PriorityLevelConfiguration object named';
  const common = { type: 'Dangling', lastTransitionTime: expect.any(String) as unknown };
  expect(await conditionsOf('own')).toEqual([
    {
      ...common,
      status: 'True',
      reason: 'NotFound',
      message: `${about} "missing" but there is no such object`,
    },
  ]);
  expect(await conditionsOf('probes')).toEqual([
    { ...common, status: 'False', reason: 'Found', message: `${about} "exempt" and it exists` },
  ]);
  const { json } = await api.call('GET', `${URL}/flowschemas`, { headers: TABLE });
  const cells = json.rows.map((row: { cells: readonly unknown[] }) => [row.cells[0], row.cells.at(-1)]);
  expect(cells).toHaveLength(12);
  expect(cells.filter(([, missing]: [string, string]) => missing !== 'False')).toEqual([['own', 'True']]);
});

test('a Table of schemas is sorted by matching precedence, in JSON and YAML, within each page', async () => {
  const namesOf = async (search: string, accept = TABLE.accept): Promise<readonly unknown[]> => {
    const { json, text } = await api.call('GET', `${URL}/flowschemas${search}`, { headers: { accept } });
    const { rows } = (json ?? parseYaml(Buffer.from(text))) as { rows: { cells: readonly unknown[] }[] };
    return rows.map(({ cells }) => cells[0]);
  };
  const names = await namesOf('');
  expect(names).toHaveLength(11);
  expect(names.slice(0, 3)).toEqual(['exempt', 'probes', 'system-leader-election']);
  // Schemas of equal precedence are sorted by name.
  expect(names.slice(5, 7)).toEqual(['controller-manager', 'scheduler']);
  expect(names.slice(-3)).toEqual(['service-accounts', 'global-default', 'catch-all']);
  expect(await namesOf('', TABLE.accept.replace('json', 'yaml'))).toEqual(names);
  expect(await namesOf('?limit=4')).toEqual(['exempt', 'controller-manager', 'global-default', 'catch-all']);
  // Outside of Tables, the objects are sorted by name.
  const { items } = (await api.call('GET', `${URL}/flowschemas`)).json;
  expect(items[0].metadata.name).toBe('catch-all');
});

test('a new schema, and a schema whose level is deleted, get a new status', async () => {
  const { store, registry } = api.plane;
  const shutdown = new AbortController();
  const keeper = createFlowObjects({ store, registry, isBootstrapped: () => true, log: silentLog });
  const kept = keeper.run(shutdown.signal);
  const becomes = async (reason: string): Promise<void> =>
    eventually(reason, async () => {
      const [condition] = (await conditionsOf('own')) as readonly { readonly reason: string }[];
      return condition?.reason === reason;
    });
  const limited = { assuredConcurrencyShares: 1, limitResponse: { type: 'Reject' } };
  const level = { metadata: { name: 'level' }, spec: { type: 'Limited', limited } };
  await api.call('POST', `${URL}/prioritylevelconfigurations`, { body: level });
  const spec = { priorityLevelConfiguration: { name: 'level' }, matchingPrecedence: 50 };
  await api.call('POST', `${URL}/flowschemas`, { body: { metadata: { name: 'own' }, spec } });
  await becomes('Found');
  await api.call('DELETE', `${URL}/prioritylevelconfigurations/level`);
  await becomes('NotFound');
  expect(await conditionsOf('own')).toMatchObject([{ type: 'Dangling', status: 'True' }]);
  shutdown.abort();
  await kept;
});

test('from the level on that applies it, the manager of the status owns the condition alone', async () => {
  const newest = loadAtLevel('1.36', () => ({
    ...jest.requireActual<typeof InProcessApis>('../../testing/in-process-api'),
    ...jest.requireActual<typeof FlowObjectsModule>('./flow-objects'),
  }));
  const server = await newest.startInProcessApi(undefined, { subresourceOwners: true });
  try {
    const url = `/apis/${GROUP.flowcontrol}/v1/flowschemas`;
    const spec = { priorityLevelConfiguration: { name: 'missing' }, matchingPrecedence: 50 };
    await server.call('POST', url, { body: { metadata: { name: 'own' }, spec } });
    await server.call('GET', url);
    const { store, registry } = server.plane;
    const options = { store, registry, isBootstrapped: () => false, log: silentLog };
    await newest.createFlowObjects(options).reconcile(patience());
    const { metadata, status } = (await server.call('GET', `${url}/own`)).json;
    expect(status.conditions).toMatchObject([{ type: 'Dangling', status: 'True' }]);
    const [entry] = metadata.managedFields.filter(
      ({ operation }: { operation: string }) => operation === 'Apply',
    );
    const owned = { 'k:{"type":"Dangling"}': expect.anything() as unknown };
    expect(entry.fieldsV1).toEqual({ 'f:status': { 'f:conditions': owned } });
  } finally {
    await server.close();
  }
});

test('a correct status is not written again', async () => {
  await reconcile();
  const before = (await api.call('GET', `${URL}/flowschemas`)).text;
  await reconcile();
  expect((await api.call('GET', `${URL}/flowschemas`)).text).toBe(before);
});

test('deleted mandatory objects are restored, suggested ones are not, even after a restart', async () => {
  for (const path of ['flowschemas/exempt', 'flowschemas/probes', 'prioritylevelconfigurations/catch-all']) {
    expect((await api.call('DELETE', `${URL}/${path}`)).code).toBe(200);
  }
  await reconcile();
  await createFirstObjects(api.plane.store, api.plane.registry(), patience());
  expect((await api.call('GET', `${URL}/flowschemas/exempt`)).code).toBe(200);
  expect((await api.call('GET', `${URL}/prioritylevelconfigurations/catch-all`)).code).toBe(200);
  expect((await api.call('GET', `${URL}/flowschemas/probes`)).code).toBe(404);
});

test('the mandatory level that marks an initialized store is not created before the suggested objects', async () => {
  const level = 'prioritylevelconfigurations/exempt';
  for (const path of [level, 'flowschemas/probes']) {
    expect((await api.call('DELETE', `${URL}/${path}`)).code).toBe(200);
  }
  await reconcile(() => false);
  expect((await api.call('GET', `${URL}/${level}`)).code).toBe(404);
  await createFirstObjects(api.plane.store, api.plane.registry(), patience());
  for (const path of [level, 'flowschemas/probes']) {
    expect((await api.call('GET', `${URL}/${path}`)).code).toBe(200);
  }
});

describe('a mandatory object that was stored with another spec', () => {
  /** Simulates a server of another release; no client can store this. */
  async function storeSpec(path: string, spec: object): Promise<void> {
    const key = `/registry/${GROUP.flowcontrol}/${path}`;
    const { record } = await api.backend.get(key, patience());
    if (record === undefined) throw new Error(`${key} is not stored`);
    const stored = JSON.parse(valueOf(record).toString('utf8')) as { metadata: object };
    const value = { ...stored, metadata: { ...stored.metadata, labels: { kept: 'yes' } }, spec };
    const bytes = Buffer.from(JSON.stringify(value));
    await api.backend.update(record.key ?? key, bytes, { expected: record.revision }, patience());
    expect((await api.call('GET', `${URL}/${path}`)).json.spec).toEqual(spec);
  }

  const shares = (assuredConcurrencyShares: number): object => ({
    type: 'Limited',
    limited: { assuredConcurrencyShares, limitResponse: { type: 'Reject' } },
  });

  test.each<[string, object]>([
    ['flowschemas/exempt', { priorityLevelConfiguration: { name: 'catch-all' }, matchingPrecedence: 9 }],
    ['flowschemas/catch-all', { priorityLevelConfiguration: { name: 'exempt' }, matchingPrecedence: 10_000 }],
    ['prioritylevelconfigurations/exempt', shares(7)],
    ['prioritylevelconfigurations/catch-all', shares(1)],
  ])('gets back that of %s, and keeps its labels', async (path, other) => {
    const before = (await api.call('GET', `${URL}/${path}`)).json;
    await storeSpec(path, other);
    await reconcile();
    const { spec, metadata } = (await api.call('GET', `${URL}/${path}`)).json;
    expect(spec).toEqual(before.spec);
    expect(metadata).toMatchObject({ uid: before.metadata.uid, labels: { kept: 'yes' }, generation: 2 });
  });

  test('is no longer restored after too many conflicting writes', async () => {
    const { store, registry } = api.plane;
    const clock = { ...store.clock, now: () => 0 };
    const keeper = createFlowObjects({
      store: { ...store, clock },
      registry,
      isBootstrapped: () => true,
      log: silentLog,
    });
    const path = 'prioritylevelconfigurations/catch-all';
    for (let round = 0; round < 6; round++) {
      await storeSpec(path, shares(1));
      await keeper.reconcile(patience());
      expect((await api.call('GET', `${URL}/${path}`)).json.spec).toEqual(shares(5));
    }
    await storeSpec(path, shares(1));
    await keeper.reconcile(patience());
    expect((await api.call('GET', `${URL}/${path}`)).json.spec).toEqual(shares(1));
  });
});
