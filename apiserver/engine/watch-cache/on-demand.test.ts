import { PATIENCE_MS } from '../../../shared/testing/eventually';
import { StorageError } from '../storage/backend';
import { FaultyMemoryBackend } from '../storage/testing/faulty-memory-backend';
import { CONFIG_MAPS, createCache, NODES, podBytes, podKey, PODS } from './testing/fixtures';

const stop: AbortController[] = [];
afterEach(() => {
  for (const controller of stop.splice(0)) controller.abort();
});

function shutdownSignal(): AbortSignal {
  const controller = new AbortController();
  stop.push(controller);
  return controller.signal;
}

function put(backend: FaultyMemoryBackend, name: string): number {
  const pod = { namespace: 'a', name };
  return backend.put(podKey(pod), podBytes(pod));
}

describe('a cache that fills on demand', () => {
  test('fills a resource when a reader waits for it or subscribes, and then keeps it up to date', async () => {
    const backend = new FaultyMemoryBackend();
    put(backend, 'early');
    const cache = createCache(backend, { fills: 'on demand' });
    const pods = cache.resource(PODS.keyPrefix);
    await cache.start(shutdownSignal());
    await cache.waitForRevision(put(backend, 'later'), { timeoutMs: PATIENCE_MS, signal: shutdownSignal() });
    expect([pods.isReady, pods.get('a/later')]).toEqual([false, undefined]);
    await pods.whenReady(shutdownSignal());
    expect(names(pods.snapshot())).toEqual(['early', 'later']);
    await cache.waitForRevision(put(backend, 'live'), { timeoutMs: PATIENCE_MS, signal: shutdownSignal() });
    expect(names(pods.snapshot())).toEqual(['early', 'later', 'live']);
    const followed = cache.resource(NODES.keyPrefix);
    followed.follow({ changed: () => undefined, filled: () => undefined });
    await cache.whenWantedReady(shutdownSignal());
    expect([followed.isReady, cache.resource(CONFIG_MAPS.keyPrefix).isReady]).toEqual([true, false]);
  });

  test('a reader that can read the store does so, and the resource is not filled', async () => {
    const backend = new FaultyMemoryBackend();
    const cache = createCache(backend, { fills: 'on demand' });
    await cache.start(shutdownSignal());
    const pods = cache.resource(PODS.keyPrefix);
    const needs = { of: [pods], timeoutMs: PATIENCE_MS, refill: 'behind' } as const;
    expect(await cache.freshen(needs, shutdownSignal())).toBe('behind');
    expect(pods.isReady).toBe(false);
    expect(await cache.freshen({ ...needs, refill: 'wait' }, shutdownSignal())).toBe('fresh');
  });

  test('requested resources are refilled after the cache lost its state', async () => {
    const backend = new FaultyMemoryBackend();
    const cache = createCache(backend, { fills: 'on demand' });
    await cache.start(shutdownSignal());
    const pods = cache.resource(PODS.keyPrefix);
    await pods.whenReady(shutdownSignal());
    backend.fail(new StorageError('compacted', 'history is gone'));
    while (pods.isReady) await new Promise((resolve) => setImmediate(resolve));
    backend.fail(undefined);
    const revision = put(backend, 'after');
    await pods.whenReady(shutdownSignal());
    expect(await cache.waitForRevision(revision, { timeoutMs: PATIENCE_MS, signal: shutdownSignal() })).toBe(
      true,
    );
    expect(names(pods.snapshot())).toEqual(['after']);
  });
});

function names(snapshot: { entries(): Iterable<{ readonly name: string }> }): string[] {
  return Array.from(snapshot.entries(), ({ name }) => name);
}
