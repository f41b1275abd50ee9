import { PATIENCE_MS } from '../../../../shared/testing/eventually';
import type { ResourceCache } from '../resource-cache';
import type { ClusterCache } from '../cluster-cache';
import { createCache, podBytes, podKey, PODS } from '../testing/fixtures';
import { FaultyMemoryBackend } from '../../storage/testing/faulty-memory-backend';

let shutdown: AbortController;
let backend: FaultyMemoryBackend;
let cache: ClusterCache;
let pods: ResourceCache;

beforeEach(() => {
  shutdown = new AbortController();
  backend = new FaultyMemoryBackend();
});
afterEach(() => {
  shutdown.abort();
});

function put(at: number, labels: Readonly<Record<string, string>>): void {
  const pod = { namespace: `ns${at % 3}`, name: `p${at}`, labels };
  backend.put(podKey(pod), podBytes(pod));
}

async function start(count: number, valueOf: (at: number) => string = (at) => `v${at % 200}`): Promise<void> {
  for (let at = 0; at < count; at += 1) put(at, { app: valueOf(at), own: `o${at}` });
  cache = createCache(backend);
  await cache.start(shutdown.signal);
  pods = cache.resource(PODS.keyPrefix);
}

async function caughtUp(): Promise<void> {
  await cache.waitForRevision(backend.revision, { timeoutMs: PATIENCE_MS, signal: shutdown.signal });
}

function indexed(...equals: (readonly [string, string])[]): string[] | undefined {
  return pods.byLabels(equals)?.map(({ key }) => key);
}

function scanned(label: string, value: string): string[] {
  return [...pods.snapshot().entries()].filter(({ labels }) => labels[label] === value).map(({ key }) => key);
}

async function built(label: string): Promise<void> {
  while (indexed([label, 'v0']) === undefined) await new Promise(setImmediate);
}

test('a label is indexed from its first use, and the index returns the same as a scan in key order', async () => {
  await start(2_000);
  await built('app');
  expect(indexed(['app', 'v7'])).toEqual(scanned('app', 'v7'));
  expect(indexed(['app', 'v7'])).toHaveLength(10);
  expect(indexed(['app', 'absent'])).toEqual([]);
});

test('changes during and after the build of an index are in it', async () => {
  // Enough objects for more than one time slice.
  await start(30_000, (at) => `v${at % 2_000}`);
  indexed(['app', 'v0']);
  for (let round = 0; round < 600; round += 1) {
    const at = round * 37;
    const pod = { namespace: `ns${at % 3}`, name: `p${at}` };
    if (round % 5 === 0) backend.remove(podKey(pod));
    else put(at, round % 7 === 0 ? {} : { app: `v${(round * 13) % 200}` });
    if (round % 50 === 0) await caughtUp();
  }
  await caughtUp();
  await built('app');
  for (let value = 0; value < 200; value += 1) {
    expect(indexed(['app', `v${value}`])).toEqual(scanned('app', `v${value}`));
  }
});

test('with several labels the most selective one is used', async () => {
  await start(2_000);
  await built('app');
  await built('own');
  expect(indexed(['app', 'v7'], ['own', 'o207'])).toEqual(['ns0/p207']);
});

test('a value that most objects have is scanned', async () => {
  await start(2_000, (at) => (at % 2 === 0 ? 'common' : `v${at}`));
  await built('app');
  expect(indexed(['app', 'common'])).toBeUndefined();
  expect(indexed(['app', 'v7'])).toEqual(['ns1/p7']);
});

test('a resource with few objects is not indexed', async () => {
  await start(100);
  for (let turn = 0; turn < 20; turn += 1) {
    expect(indexed(['app', 'v7'])).toBeUndefined();
    await new Promise(setImmediate);
  }
});

test('no more than four labels are indexed at a time', async () => {
  await start(1_500);
  for (const label of ['app', 'own', 'c', 'd']) await built(label);
  for (let turn = 0; turn < 50; turn += 1) {
    expect(indexed(['e', 'v0'])).toBeUndefined();
    await new Promise(setImmediate);
  }
});

test('a refilled resource rebuilds its indexes', async () => {
  await start(2_000);
  await built('app');
  cache.rebuildResource(PODS.keyPrefix, 'test');
  await pods.whenReady(shutdown.signal);
  put(7, { app: 'v8' });
  await caughtUp();
  await built('app');
  expect(indexed(['app', 'v7'])).toEqual(scanned('app', 'v7'));
  expect(indexed(['app', 'v7'])).toHaveLength(9);
});
