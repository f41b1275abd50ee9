import { randomInt } from 'node:crypto';
import { GROUP } from '../../../../shared/names';
import { eventually, PATIENCE_MS } from '../../../../shared/testing/eventually';
import type { Backend } from '../../../engine/storage/backend';
import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import { FaultyMemoryBackend } from '../../../engine/storage/testing/faulty-memory-backend';

const PODS = '/api/v1/namespaces/default/pods';
const QUOTAS = '/api/v1/namespaces/default/resourcequotas';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const LATE_TURNS = 20;

let common: FaultyMemoryBackend;
let replicas: InProcessApi[] = [];
beforeEach(() => {
  common = new FaultyMemoryBackend();
  held = Promise.resolve();
  lostRaces = { creates: 0, updates: 0 };
});
afterEach(async () => {
  await Promise.all(replicas.map(async (api) => api.close()));
  replicas = [];
});

/** Number of lost races between the servers. */
let lostRaces = { creates: 0, updates: 0 };

/** No cache gets events while this is pending; it resolves when a creation fails. */
let held: Promise<void> = Promise.resolve();
let release = (): void => undefined;

function hold(): void {
  held = new Promise((resolve) => {
    release = resolve;
  });
}

/** A server on the common store with slow writes and a slow feed. */
async function start(): Promise<InProcessApi> {
  const backend: Backend = {
    get: (...asked) => common.get(...asked),
    list: (...asked) => common.list(...asked),
    create: async (...asked) => {
      await turns(randomInt(LATE_TURNS));
      const outcome = await common.create(...asked);
      if (!outcome.ok) {
        lostRaces.creates += 1;
        release();
      }
      return outcome;
    },
    update: async (...asked) => {
      await turns(randomInt(LATE_TURNS));
      const outcome = await common.update(...asked);
      if (!outcome.ok) lostRaces.updates += 1;
      return outcome;
    },
    delete: (...asked) => common.delete(...asked),
    async *watch(options, signal) {
      for await (const batch of common.watch(options, signal)) {
        await turns(LATE_TURNS);
        await held;
        yield batch;
      }
    },
    currentRevision: (signal) => common.currentRevision(signal),
    compact: (...asked) => common.compact(...asked),
    close: async () => undefined,
  };
  const api = await startInProcessApi(backend);
  replicas.push(api);
  return api;
}

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await turn();
}

async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Creates a quota with a status, as the controller does, and waits until all servers know it. */
async function limit(api: InProcessApi, hard: object, used: object): Promise<void> {
  const made = await api.call('POST', QUOTAS, { body: { metadata: { name: 'q' }, spec: { hard } } });
  expect(made.code).toBe(201);
  const body = { ...made.json, status: { hard, used } };
  const stored = await api.call('PUT', `${QUOTAS}/q/status`, { body });
  expect(stored.code).toBe(200);
  const revision = Number(stored.json.metadata.resourceVersion);
  const waiting = { timeoutMs: PATIENCE_MS, signal: new AbortController().signal };
  for (const { plane } of replicas) expect(await plane.cache.waitForRevision(revision, waiting)).toBe(true);
}

async function usedOf(api: InProcessApi): Promise<unknown> {
  return (await api.call('GET', `${QUOTAS}/q`)).json.status.used;
}

const pod = (name: string): object => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }] },
});

test('of many pods created through several servers exactly as many are stored as the quota allows', async () => {
  const servers = [await start(), await start(), await start()];
  const [first, second] = servers;
  if (first === undefined || second === undefined) throw new Error('there are servers');
  await limit(first, { pods: '50', 'requests.cpu': '100' }, { pods: '0', 'requests.cpu': '0' });
  const replies = await Promise.all(
    Array.from({ length: 210 }, async (_, index) => {
      const server = servers[index % servers.length] ?? first;
      await turns(randomInt(8 * LATE_TURNS));
      return server.call('POST', PODS, { body: pod(`p${String(index)}`) });
    }),
  );
  expect(lostRaces.updates).toBeGreaterThan(0);
  const refused = replies.filter(({ code }) => code !== 201);
  expect(refused).toHaveLength(160);
  expect(new Set(refused.map(({ json }) => json.message.replace(/"p\d+"/, '"…"')))).toEqual(
    new Set(['pods "…" is forbidden: exceeded quota: q, requested: pods=1, used: pods=50, limited: pods=50']),
  );
  expect((await second.call('GET', PODS)).json.items).toHaveLength(50);
  expect(await usedOf(second)).toEqual({ pods: '50', 'requests.cpu': '5' });
});

test('usage released through one server is available at once through another', async () => {
  const [one, other] = [await start(), await start()];
  await limit(one, { pods: '1' }, { pods: '1' });
  expect((await other.call('POST', PODS, { body: pod('a') })).code).toBe(403);
  const { json } = await one.call('GET', `${QUOTAS}/q`);
  await one.call('PUT', `${QUOTAS}/q/status`, {
    body: { ...json, status: { ...json.status, used: { pods: '0' } } },
  });
  expect((await other.call('POST', PODS, { body: pod('a') })).code).toBe(201);
});

test('a write with several attempts is charged once', async () => {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
  const [one, other] = [await start(), await start()];
  await limit(one, { configmaps: '2' }, { configmaps: '0' });
  // With a confirmed cache and a stopped clock it decides by its cache.
  expect((await other.call('POST', CONFIG_MAPS, { body: { metadata: { name: 'first' } } })).code).toBe(201);
  await usedOf(other);
  hold();
  // The other server still has the old namespace, so its first attempt is not stored.
  await one.call('PATCH', '/api/v1/namespaces/default', { body: { metadata: { labels: { a: 'b' } } } });
  expect((await other.call('POST', CONFIG_MAPS, { body: { metadata: { name: 'm' } } })).code).toBe(201);
  clock.mockRestore();
  expect(lostRaces.creates).toBeGreaterThan(0);
  expect(await usedOf(one)).toEqual({ configmaps: '2' });
});

test('an object created by apply is charged, an update of it is not', async () => {
  const api = await start();
  await limit(api, { configmaps: '1' }, { configmaps: '0' });
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { a: '1' } };
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const apply = async (name: string): Promise<number> => {
    const url = `${CONFIG_MAPS}/${name}?fieldManager=me&force=true`;
    return (await api.call('PATCH', url, { body: { ...body, metadata: { name } }, headers })).code;
  };
  expect(await apply('m')).toBe(201);
  expect(await apply('m')).toBe(200);
  expect(await apply('n')).toBe(403);
  expect(await usedOf(api)).toMatchObject({ configmaps: '1' });
});

test('a dry run leaves the quota alone', async () => {
  const api = await start();
  await limit(api, { pods: '1' }, { pods: '0' });
  const before = (await api.call('GET', `${QUOTAS}/q`)).json.metadata.resourceVersion;
  expect((await api.call('POST', `${PODS}?dryRun=All`, { body: pod('a') })).code).toBe(201);
  expect((await api.call('GET', `${QUOTAS}/q`)).json.metadata.resourceVersion).toBe(before);
});

test('an object that is refused for another reason is not charged', async () => {
  const api = await start();
  await limit(api, { pods: '1' }, { pods: '0' });
  expect((await api.call('POST', PODS, { body: { metadata: { name: 'a' }, spec: {} } })).code).toBe(422);
  expect(await usedOf(api)).toEqual({ pods: '0' });
});

test('a custom resource is charged under its own name', async () => {
  const api = await start();
  const widgets = { plural: 'widgets', kind: 'Widget' };
  const made = await api.call('POST', `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`, {
    body: {
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: widgets,
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    },
  });
  expect(made.code).toBe(201);
  await limit(api, { 'count/widgets.example.com': '1' }, { 'count/widgets.example.com': '0' });
  const path = '/apis/example.com/v1/namespaces/default/widgets';
  const widget = (name: string): object => ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name },
  });
  await served(api, path);
  expect((await api.call('POST', path, { body: widget('a') })).code).toBe(201);
  const second = await api.call('POST', path, { body: widget('b') });
  expect(second.json.message).toBe(
    'widgets.example.com "b" is forbidden: exceeded quota: q, requested: count/widgets.example.com=1, used: count/widgets.example.com=1, limited: count/widgets.example.com=1',
  );
});

async function served(api: InProcessApi, path: string): Promise<void> {
  await eventually(`${path} is served`, async () => (await api.call('GET', path)).code === 200);
}
