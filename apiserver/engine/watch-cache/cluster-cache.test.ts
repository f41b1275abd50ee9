import { PATIENCE_MS } from '../../../shared/testing/eventually';
import { StorageError } from '../storage/backend';
import type { ClusterCache } from './cluster-cache';
import type { DecodedValues } from './state/entry-codec';
import {
  CONFIG_MAPS,
  createCache,
  FrameReader,
  live,
  NODES,
  podBytes,
  podKey,
  PODS,
  PREFIX,
  requestFor,
} from './testing/fixtures';
import { FaultyMemoryBackend } from '../storage/testing/faulty-memory-backend';

const stop: AbortController[] = [];
afterEach(() => {
  for (const controller of stop.splice(0)) controller.abort();
});

function shutdownSignal(): AbortSignal {
  const controller = new AbortController();
  stop.push(controller);
  return controller.signal;
}

function put(
  backend: FaultyMemoryBackend,
  name: string,
  more: { node?: string; data?: string } = {},
): number {
  const pod = { namespace: 'a', name, ...more };
  return backend.put(podKey(pod), podBytes(pod));
}

async function started(
  backend: FaultyMemoryBackend,
  options: Parameters<typeof createCache>[1] = {},
): Promise<ClusterCache> {
  const cache = createCache(backend, options);
  await cache.start(shutdownSignal());
  return cache;
}

async function caughtUp(cache: ClusterCache, backend: FaultyMemoryBackend): Promise<void> {
  expect(
    await cache.waitForRevision(backend.revision, { timeoutMs: PATIENCE_MS, signal: shutdownSignal() }),
  ).toBe(true);
}

test('a started cache holds all objects of all pages at one revision', async () => {
  const backend = new FaultyMemoryBackend();
  for (let at = 0; at < 1_234; at += 1) put(backend, `p${at}`);
  backend.put(`${PREFIX}/core/nodes/n1`, Buffer.from('{"kind":"Node","apiVersion":"v1","metadata":{}}'));
  const cache = createCache(backend);
  expect(cache.notReadyReason()).toBe('the watch cache is not started');
  await cache.start(shutdownSignal());
  expect(cache.notReadyReason()).toBeUndefined();
  expect(cache.revision).toBe(1_235);
  expect(cache.resource(PODS.keyPrefix).snapshot().size).toBe(1_234);
  expect(cache.resource(NODES.keyPrefix).get('n1')?.bytes.toString()).toBe(
    '"metadata":{"resourceVersion":"1235"}}',
  );
  expect(backend.calls.list).toBe(3);
});

test('writes that happen while the pages are read are neither missed nor seen early', async () => {
  const backend = new FaultyMemoryBackend();
  for (let at = 0; at < 900; at += 1) put(backend, `p${String(at).padStart(4, '0')}`);
  let pages = 0;
  backend.beforeList = async () => {
    pages += 1;
    if (pages === 2) {
      put(backend, 'p0001', { data: 'new' });
      backend.remove(podKey({ namespace: 'a', name: 'p0899' }));
      put(backend, 'zzz');
    }
  };
  const cache = await started(backend);
  await caughtUp(cache, backend);
  const pods = cache.resource(PODS.keyPrefix);
  expect(pods.snapshot().size).toBe(900);
  expect(pods.get('a/p0001')?.bytes.toString()).toContain('"data":"new"');
  expect(pods.get('a/p0899')).toBeUndefined();
  expect(pods.get('a/zzz')?.revision).toBe(903);
});

test('revisions of foreign keys advance the revision and change nothing else', async () => {
  const backend = new FaultyMemoryBackend();
  const cache = await started(backend);
  backend.put('/other/thing', Buffer.from('x'));
  backend.put(`${PREFIX}/core/unknown/a/b`, Buffer.from('y'));
  await caughtUp(cache, backend);
  expect(cache.revision).toBe(2);
  expect(cache.stats().events).toBe(0);
});

test('a missing revision rebuilds the cache and ends watches with 410', async () => {
  const backend = new FaultyMemoryBackend();
  put(backend, 'p1');
  const cache = await started(backend);
  const pods = cache.resource(PODS.keyPrefix);
  const reader = new FrameReader(pods.watch(requestFor({ from: 1 }), shutdownSignal()));
  const frames = reader.rest();
  put(backend, 'p2');
  await caughtUp(cache, backend);
  backend.lostRevisions.add(3);
  put(backend, 'p3');
  put(backend, 'p4');
  expect(await frames).toEqual(['ADDED a/p2@2', 'ERROR 410 Expired']);
  await caughtUp(cache, backend);
  expect(pods.snapshot().size).toBe(4);
  expect(pods.oldestWatchable).toBe(4);
  expect(cache.stats()).toMatchObject({ rebuilds: 1, fills: 2 });
});

test.each(['compacted', 'reset'] as const)('a feed that ends with %s rebuilds the cache', async (code) => {
  const backend = new FaultyMemoryBackend();
  put(backend, 'p1');
  const cache = await started(backend);
  const reader = new FrameReader(
    cache.resource(PODS.keyPrefix).watch(requestFor({ from: 1 }), shutdownSignal()),
  );
  const frames = reader.rest();
  put(backend, 'p2');
  await caughtUp(cache, backend);
  let reasonWhileFilling: string | undefined;
  let revisionWhileFilling = -1;
  backend.beforeList = async () => {
    reasonWhileFilling = cache.notReadyReason();
    revisionWhileFilling = cache.revision;
  };
  backend.fail(new StorageError(code, 'history is gone'));
  expect(await frames).toEqual(['ADDED a/p2@2', 'ERROR 410 Expired']);
  backend.fail(undefined);
  await cache.resource(PODS.keyPrefix).whenReady(shutdownSignal());
  expect(cache.notReadyReason()).toBeUndefined();
  expect(reasonWhileFilling).toBe('the watch cache is being rebuilt: history is gone');
  expect(revisionWhileFilling).toBe(0);
});

test('an outage of the store leaves the cache ready and loses nothing', async () => {
  const backend = new FaultyMemoryBackend();
  put(backend, 'p1');
  const cache = await started(backend);
  const reader = new FrameReader(
    cache.resource(PODS.keyPrefix).watch(requestFor({ from: 1 }), shutdownSignal()),
  );
  const frames = reader.take(2);
  backend.fail(new StorageError('unavailable', 'no leader'));
  put(backend, 'p2');
  put(backend, 'p3');
  expect(cache.notReadyReason()).toBeUndefined();
  expect(cache.resource(PODS.keyPrefix).get('a/p1')?.revision).toBe(1);
  backend.fail(undefined);
  expect(await frames).toEqual(['ADDED a/p2@2', 'ADDED a/p3@3']);
  expect(cache.stats()).toMatchObject({ rebuilds: 0, fills: 1 });
});

test('start waits for an unavailable store and rejects when the store denies access', async () => {
  const backend = new FaultyMemoryBackend();
  put(backend, 'p1');
  backend.fail(new StorageError('unavailable', 'not up'));
  const cache = createCache(backend);
  const start = cache.start(shutdownSignal());
  backend.fail(undefined);
  await start;
  expect(cache.revision).toBe(1);

  backend.fail(new StorageError('denied', 'grant read on the whole keyspace'));
  await expect(createCache(backend).start(shutdownSignal())).rejects.toMatchObject({ code: 'denied' });
});

test('a value that cannot be decoded is counted and skipped, and the feed continues', async () => {
  const backend = new FaultyMemoryBackend();
  put(backend, 'good');
  backend.put(podKey({ namespace: 'a', name: 'bad' }), Buffer.from('{"kind":'));
  const cache = await started(backend);
  const pods = cache.resource(PODS.keyPrefix);
  const frames = new FrameReader(pods.watch(requestFor(), shutdownSignal())).take(5);
  await new FrameReader(pods.watch(requestFor(), shutdownSignal())).take(1);
  backend.put(podKey({ namespace: 'a', name: 'good' }), Buffer.from('no json'));
  put(backend, 'good');
  put(backend, 'bad');
  backend.remove(podKey({ namespace: 'a', name: 'bad' }));
  expect(await frames).toEqual([
    'ADDED a/good@1',
    'DELETED a/good@3',
    'ADDED a/good@4',
    'ADDED a/bad@5',
    'DELETED a/bad@6',
  ]);
  expect(cache.stats().undecodable).toBe(2);
});

test('what was decoded before is used for the fields that it has, and decoded again for others', async () => {
  const backend = new FaultyMemoryBackend();
  put(backend, 'p1', { node: 'n1' });
  const decoded: DecodedValues = new WeakMap();
  for (const paths of [[], ['spec.nodeName'], []]) {
    const cache = await started(backend, { resources: [{ ...PODS, fieldPaths: paths }], decoded });
    const { fields } = cache.resource(PODS.keyPrefix).get('a/p1') ?? {};
    expect(paths.map((path) => fields?.[path])).toEqual(paths.map(() => 'n1'));
  }
});

test('a resource added to a running cache is filled during the feed and misses no event', async () => {
  const backend = new FaultyMemoryBackend();
  put(backend, 'p1');
  const cache = await started(backend, { resources: [CONFIG_MAPS] });
  let pages = 0;
  backend.beforeList = async () => {
    pages += 1;
    if (pages === 1) put(backend, 'p2');
  };
  const pods = cache.addResource(PODS);
  expect(pods.isReady).toBe(false);
  const frames = new FrameReader(pods.watch(requestFor(), shutdownSignal())).take(3);
  await pods.whenReady(shutdownSignal());
  await caughtUp(cache, backend);
  put(backend, 'p3');
  expect(await frames).toEqual(['ADDED a/p1@1', 'ADDED a/p2@2', 'ADDED a/p3@3']);
  expect(pods.oldestWatchable).toBe(1);
  expect(() => cache.addResource(PODS)).toThrow('cached already');
});

test('a resource added while the whole cache is being filled gets a fill of its own', async () => {
  const backend = new FaultyMemoryBackend();
  put(backend, 'p1');
  const cache = createCache(backend, { resources: [CONFIG_MAPS], limits: { fillPageRecords: 1 } });
  put(backend, 'p2');
  backend.beforeList = async () => {
    // The second page: records of the first page are not loaded again.
    if (backend.calls.list === 2) cache.addResource(PODS);
  };
  await cache.start(shutdownSignal());
  const pods = cache.resource(PODS.keyPrefix);
  await pods.whenReady(shutdownSignal());
  expect(pods.snapshot().size).toBe(2);
});

test('a removed resource is unknown and its watches end with 410', async () => {
  const backend = new FaultyMemoryBackend();
  const cache = await started(backend);
  const pods = cache.resource(PODS.keyPrefix);
  const reader = new FrameReader(pods.watch(requestFor({ from: 0 }), shutdownSignal()));
  const frames = reader.rest();
  put(backend, 'p1');
  await caughtUp(cache, backend);
  cache.removeResource(PODS.keyPrefix);
  expect(await frames).toEqual(['ADDED a/p1@1', 'ERROR 410 Expired']);
  expect(() => cache.resource(PODS.keyPrefix)).toThrow('could not find the requested resource');
  // Without this, a watch that begins now would wait forever for a state.
  const late = new FrameReader(pods.watch(requestFor({ from: undefined }), shutdownSignal()));
  expect(await late.rest()).toEqual(['ERROR 410 Expired']);
  put(backend, 'p2');
  await caughtUp(cache, backend);
});

test('rebuilding one resource ends its watches with 410 and does not affect other resources', async () => {
  const backend = new FaultyMemoryBackend();
  put(backend, 'p1');
  const cache = await started(backend);
  const pods = cache.resource(PODS.keyPrefix);
  const nodeFrames = new FrameReader(
    cache.resource(NODES.keyPrefix).watch(requestFor({ from: 1 }), shutdownSignal()),
  ).take(1);
  const podFrames = new FrameReader(pods.watch(requestFor({ from: 1 }), shutdownSignal())).rest();
  put(backend, 'p2');
  await caughtUp(cache, backend);
  cache.rebuildResource(PODS.keyPrefix, 'the digest differs');
  expect(await podFrames).toEqual(['ADDED a/p2@2', 'ERROR 410 Expired']);
  await pods.whenReady(shutdownSignal());
  expect(pods.snapshot().size).toBe(2);
  backend.put(
    `${PREFIX}/core/nodes/n1`,
    Buffer.from('{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"}}'),
  );
  expect(await nodeFrames).toEqual(['ADDED n1@3']);
  expect(cache.notReadyReason()).toBeUndefined();
});

test('waiting for a revision returns true once it is applied, false on timeout or abort', async () => {
  const backend = new FaultyMemoryBackend();
  const cache = await started(backend);
  const there = cache.waitForRevision(2, { timeoutMs: PATIENCE_MS, signal: shutdownSignal() });
  const late = cache.waitForRevision(99, { timeoutMs: 1, signal: shutdownSignal() });
  const leaver = new AbortController();
  const left = cache.waitForRevision(99, { timeoutMs: PATIENCE_MS, signal: leaver.signal });
  leaver.abort();
  put(backend, 'p1');
  put(backend, 'p2');
  expect(await Promise.all([there, late, left])).toEqual([true, false, false]);
});

test('a drain ends every watch with a bookmark if the client requested bookmarks', async () => {
  const backend = new FaultyMemoryBackend();
  put(backend, 'p1');
  const cache = await started(backend);
  const pods = cache.resource(PODS.keyPrefix);
  const frames = [true, true, false].map((bookmarks) =>
    new FrameReader(pods.watch(requestFor({ bookmarks }), shutdownSignal())).rest(),
  );
  await live(cache, 3);
  put(backend, 'p2');
  await caughtUp(cache, backend);
  await cache.drain({ spreadMs: 60, refuseNew: false }, shutdownSignal());
  const [first, second, third] = await Promise.all(frames);
  expect(first?.at(-1)).toBe('BOOKMARK @2');
  expect(second?.at(-1)).toBe('BOOKMARK @2');
  expect(third).toHaveLength(2);
  expect(cache.stats().watchesEnded.drain).toBe(3);
  expect(cache.watchers()).toEqual([]);
});
