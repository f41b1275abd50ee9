import { PATIENCE_MS, patience } from '../../../../shared/testing/eventually';
import type { ClusterCache } from '../cluster-cache';
import { createCache, podBytes, podKey, PODS } from '../testing/fixtures';
import { FaultyMemoryBackend } from '../../storage/testing/faulty-memory-backend';

let shutdown: AbortController;
beforeEach(() => {
  shutdown = new AbortController();
});
afterEach(() => {
  shutdown.abort();
});

interface Setting {
  readonly backend: FaultyMemoryBackend;
  readonly cache: ClusterCache;
}

async function started(pods: number): Promise<Setting> {
  const backend = new FaultyMemoryBackend();
  for (let at = 0; at < pods; at += 1) {
    const pod = { namespace: 'a', name: `p${at}` };
    backend.put(podKey(pod), podBytes(pod));
  }
  const cache = createCache(backend);
  await cache.start(shutdown.signal);
  return { backend, cache };
}

async function readyAgain(cache: ClusterCache): Promise<void> {
  await cache.resource(PODS.keyPrefix).whenReady(patience());
}

test('a cache of several pages that equals the store is not rebuilt', async () => {
  const { backend, cache } = await started(1_100);
  const readBefore = backend.calls.list;
  await cache.check(shutdown.signal);
  expect(cache.stats().checks).toEqual({ equal: 3, different: 0, skipped: 0 });
  expect(cache.stats().rebuilds).toBe(0);
  expect(backend.calls.list - readBefore).toBe(5);
});

test('writes during the comparison are no difference', async () => {
  const { backend, cache } = await started(1_100);
  backend.beforeList = async (): Promise<void> => {
    const pod = { namespace: 'a', name: `p${backend.revision % 1_100}` };
    backend.put(podKey(pod), podBytes(pod));
    backend.remove(podKey({ namespace: 'a', name: `p${(backend.revision * 7) % 1_100}` }));
    await cache.waitForRevision(backend.revision, { timeoutMs: PATIENCE_MS, signal: shutdown.signal });
  };
  await cache.check(shutdown.signal);
  expect(cache.stats().checks).toMatchObject({ different: 0, skipped: 0 });
});

const GHOST = { namespace: 'a', name: 'ghost' };

test.each([
  ['an object the store does not have', 'a/ghost', 'put'],
  ['an object after all objects of the store', 'z/ghost', 'put'],
  ['an object at another revision', 'a/p1', 'put'],
  ['a missing object', 'a/p2', 'delete'],
  ['the last object missing', 'a/p9', 'delete'],
] as const)('%s is detected and repaired', async (_what, key, type) => {
  const { backend, cache } = await started(10);
  const pods = cache.resource(PODS.keyPrefix);
  const event = type === 'put' ? { type, key, value: podBytes(GHOST), created: true } : { type, key };
  pods.apply(key, event, backend.revision);
  await cache.check(shutdown.signal);
  await readyAgain(cache);
  expect(cache.stats()).toMatchObject({ rebuilds: 1, checks: { different: 1 } });
  expect([...pods.snapshot().entries()].map((entry) => entry.key)).toEqual(
    Array.from({ length: 10 }, (_, at) => `a/p${at}`),
  );
  await cache.check(shutdown.signal);
  expect(cache.stats().checks.different).toBe(1);
});

test('a value that cannot be decoded is not cached and is no difference', async () => {
  const backend = new FaultyMemoryBackend();
  backend.put(podKey(GHOST), Buffer.from('no JSON'));
  const cache = createCache(backend);
  await cache.start(shutdown.signal);
  await cache.check(shutdown.signal);
  expect(cache.stats().checks).toEqual({ equal: 3, different: 0, skipped: 0 });
});

test('a store that compacts the revision or does not answer ends the comparison without a result', async () => {
  const { backend, cache } = await started(1_100);
  backend.beforeList = async (): Promise<void> => {
    const pod = { namespace: 'a', name: 'p1' };
    backend.put(podKey(pod), podBytes(pod));
    await cache.waitForRevision(backend.revision, { timeoutMs: PATIENCE_MS, signal: shutdown.signal });
    await backend.compact(backend.revision, shutdown.signal);
  };
  await cache.check(shutdown.signal);
  expect(cache.stats().checks).toMatchObject({ different: 0 });
  expect(cache.stats().checks.skipped).toBeGreaterThan(0);
});
