import type { ClusterCache } from './cluster-cache';
import { createCache, podBytes, podKey, PODS } from './testing/fixtures';
import { MemoryBackend } from '../storage/testing/memory-backend';

/** Longer than any of these waits, so that only what is waited for ends it. */
const LONG_MS = 60_000;

let shutdown: AbortController;
let backend: MemoryBackend;
let cache: ClusterCache;

beforeEach(async () => {
  shutdown = new AbortController();
  backend = new MemoryBackend();
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

test('what was acknowledged before the call is there when the cache is fresh', async () => {
  const pods = cache.resource(PODS.keyPrefix);
  put('x');
  const needs = { of: [pods], timeoutMs: LONG_MS, refill: 'behind' } as const;
  expect(await cache.freshen(needs, shutdown.signal)).toBe('fresh');
  expect(pods.get('a/x')).toBeDefined();
});

test('a revision that does not come in time leaves the cache behind', async () => {
  const needs = { of: [], revision: backend.revision + 1, timeoutMs: 1, refill: 'wait' } as const;
  expect(await cache.freshen(needs, shutdown.signal)).toBe('behind');
});

test('whoever leaves is told why, and not that the cache is behind', async () => {
  const leaver = new AbortController();
  const needs = { of: [], revision: backend.revision + 1, timeoutMs: LONG_MS, refill: 'wait' } as const;
  const asked = cache.freshen(needs, leaver.signal);
  leaver.abort(new Error('left'));
  await expect(asked).rejects.toThrow('left');
});

describe('a resource that is read anew', () => {
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

  test('is behind at once for a reader who can ask the store', async () => {
    const of = [cache.resource(PODS.keyPrefix)];
    expect(of[0]?.isReady).toBe(false);
    const needs = { of, revision: 0, timeoutMs: LONG_MS, refill: 'behind' } as const;
    expect(await cache.freshen(needs, shutdown.signal)).toBe('behind');
  });

  test('is waited for by a reader who cannot, and then whole', async () => {
    const pods = cache.resource(PODS.keyPrefix);
    const needs = { of: [pods], revision: 0, timeoutMs: LONG_MS, refill: 'wait' } as const;
    const asked = cache.freshen(needs, shutdown.signal);
    release();
    expect(await asked).toBe('fresh');
    expect(pods.get('a/x')).toBeDefined();
  });

  test('that is not there in time is behind', async () => {
    const never = { isReady: false, whenReady: async () => new Promise<void>(() => undefined) };
    const left = { isReady: false, whenReady: async () => Promise.reject(new Error('left')) };
    for (const looked of [[left], [left, never]]) {
      const needs = { of: looked, revision: 0, timeoutMs: 1, refill: 'wait' } as const;
      expect(await cache.freshen(needs, shutdown.signal)).toBe('behind');
    }
  });

  test('does not matter to those who look at other ones', async () => {
    const needs = { of: [], revision: 0, timeoutMs: LONG_MS, refill: 'wait' } as const;
    expect(await cache.freshen(needs, shutdown.signal)).toBe('fresh');
  });
});
