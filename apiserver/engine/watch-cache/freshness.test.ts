import type { ClusterCache } from './cluster-cache';
import { createCache, podBytes, podKey, PODS } from './testing/fixtures';
import { FaultyMemoryBackend } from '../storage/testing/faulty-memory-backend';

/** Longer than any wait of these tests, so that only the awaited event ends it. */
const LONG_MS = 60_000;

let shutdown: AbortController;
let backend: FaultyMemoryBackend;
let cache: ClusterCache;

beforeEach(async () => {
  shutdown = new AbortController();
  backend = new FaultyMemoryBackend();
  cache = createCache(backend);
  await cache.start(shutdown.signal);
});
afterEach(() => {
  shutdown.abort();
});

function put(name: string): void {
  const pod = { namespace: 'a', name };
  backend.put(podKey(pod), podBytes(pod));
}

test('a fresh cache contains every write acknowledged before the call', async () => {
  const pods = cache.resource(PODS.keyPrefix);
  put('x');
  const needs = { of: [pods], timeoutMs: LONG_MS, refill: 'behind' } as const;
  expect(await cache.freshen(needs, shutdown.signal)).toBe('fresh');
  expect(pods.get('a/x')).toBeDefined();
});

test('a revision that is not reached in time returns behind', async () => {
  const needs = { of: [], revision: backend.revision + 1, timeoutMs: 1, refill: 'wait' } as const;
  expect(await cache.freshen(needs, shutdown.signal)).toBe('behind');
});

test('an aborted caller gets the reason of its signal, not behind', async () => {
  const leaver = new AbortController();
  const needs = { of: [], revision: backend.revision + 1, timeoutMs: LONG_MS, refill: 'wait' } as const;
  const asked = cache.freshen(needs, leaver.signal);
  leaver.abort(new Error('left'));
  await expect(asked).rejects.toThrow('left');
});

describe('a resource that is refilled', () => {
  let release: () => void;

  beforeEach(() => {
    put('x');
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    backend.beforeList = async () => released;
    cache.rebuildResource(PODS.keyPrefix, 'a test');
  });
  afterEach(() => {
    release();
  });

  test('returns behind at once for a reader that can read the store', async () => {
    const of = [cache.resource(PODS.keyPrefix)];
    expect(of[0]?.isReady).toBe(false);
    const needs = { of, revision: 0, timeoutMs: LONG_MS, refill: 'behind' } as const;
    expect(await cache.freshen(needs, shutdown.signal)).toBe('behind');
  });

  test('is waited for by other readers, until it is complete', async () => {
    const pods = cache.resource(PODS.keyPrefix);
    const needs = { of: [pods], revision: 0, timeoutMs: LONG_MS, refill: 'wait' } as const;
    const asked = cache.freshen(needs, shutdown.signal);
    release();
    expect(await asked).toBe('fresh');
    expect(pods.get('a/x')).toBeDefined();
  });

  test('returns behind if the refill is not complete in time', async () => {
    const never = { isReady: false, whenReady: async () => new Promise<void>(() => undefined) };
    const left = { isReady: false, whenReady: async () => Promise.reject(new Error('left')) };
    for (const looked of [[left], [left, never]]) {
      const needs = { of: looked, revision: 0, timeoutMs: 1, refill: 'wait' } as const;
      expect(await cache.freshen(needs, shutdown.signal)).toBe('behind');
    }
  });

  test('does not affect readers of other resources', async () => {
    const needs = { of: [], revision: 0, timeoutMs: LONG_MS, refill: 'wait' } as const;
    expect(await cache.freshen(needs, shutdown.signal)).toBe('fresh');
  });
});
