import { setMaxListeners } from 'node:events';
import { silentLog } from '../../../shared/log/log';
import { PATIENCE_MS } from '../../../shared/testing/eventually';
import { StorageError } from '../storage/backend';
import type { ClusterCache } from './cluster-cache';
import type { ResourceCache } from './resource-cache';
import {
  brief,
  createCache,
  FrameReader,
  live,
  framesOf,
  JsonRepresentation,
  podBytes,
  podKey,
  PODS,
  requestFor,
} from './testing/fixtures';
import { StatusError } from '../../../shared/errors/status-error';
import { SlowReaderError } from '../request/slow-reader-error';
import { namespaceRange } from './state/snapshot';
import type { PodShape } from './testing/fixtures';
import { FaultyMemoryBackend } from '../storage/testing/faulty-memory-backend';
import type { EndReason } from './fan-out/watch-request';

let backend: FaultyMemoryBackend;
let cluster: ClusterCache;
let pods: ResourceCache;
let controller: AbortController;
let now: number;

async function start(limits: Parameters<typeof createCache>[1] = {}): Promise<void> {
  cluster = createCache(backend, { clock: { now: () => now }, ...limits });
  await cluster.start(controller.signal);
  pods = cluster.resource(PODS.keyPrefix);
}

beforeEach(() => {
  backend = new FaultyMemoryBackend();
  controller = new AbortController();
  setMaxListeners(0, controller.signal);
  now = 1_000_000;
});
afterEach(() => {
  controller.abort();
});

function put(pod: PodShape): number {
  return backend.put(podKey(pod), podBytes(pod));
}

function remove(pod: PodShape): number {
  return backend.remove(podKey(pod));
}

function watch(parts: Parameters<typeof requestFor>[0] = {}): FrameReader {
  return new FrameReader(pods.watch(requestFor(parts), controller.signal));
}

async function caughtUp(): Promise<void> {
  expect(
    await cluster.waitForRevision(backend.revision, { timeoutMs: PATIENCE_MS, signal: controller.signal }),
  ).toBe(true);
}

const X = { namespace: 'a', name: 'x' };
const Y = { namespace: 'b', name: 'y' };

test('a watch without a resourceVersion sends the state sorted by key, then changes', async () => {
  put(Y);
  put(X);
  await start();
  const frames = watch().take(3);
  await live(cluster, 1);
  put({ ...X, data: 'new' });
  expect(await frames).toEqual(['ADDED a/x@2', 'ADDED b/y@1', 'MODIFIED a/x@3']);
});

test('a streaming list marks the end of the initial state', async () => {
  put(X);
  await start();
  const reader = watch({ sendInitialEvents: true, bookmarks: true });
  expect(await reader.take(2)).toEqual(['ADDED a/x@1', 'BOOKMARK @1']);
});

test('objects that begin to match a selector are ADDED, those that cease to match are DELETED with their last matching state', async () => {
  put({ ...X, labels: { app: 'one' } });
  await start();
  const reader = watch({ from: 1, matches: (entry) => entry.labels['app'] === 'web' });
  const first = reader.next();
  put({ ...X, labels: { app: 'web' }, data: 'in' });
  put({ ...X, labels: { app: 'web' }, data: 'still' });
  put({ ...X, labels: { app: 'two' }, data: 'out' });
  put({ ...X, labels: { app: 'web' }, data: 'back' });
  remove(X);
  expect(brief((await first)!)).toBe('ADDED a/x@2');
  expect(brief((await reader.next())!)).toBe('MODIFIED a/x@3');
  const left = await reader.next();
  expect(brief(left!)).toBe('DELETED a/x@4');
  expect(left?.object.data).toBe('still');
  expect(left?.object.metadata.labels).toEqual({ app: 'web' });
  expect(await reader.take(2)).toEqual(['ADDED a/x@5', 'DELETED a/x@6']);
});

test('an event is offered only to watchers of its object, name, node or namespace', async () => {
  await start();
  const offered = new Map<string, number>();
  const count = (id: string) => (): boolean => {
    offered.set(id, (offered.get(id) ?? 0) + 1);
    return true;
  };
  const readers = [
    watch({ from: 0, matches: count('all') }),
    watch({ from: 0, namespace: 'a', matches: count('namespace a') }),
    watch({ from: 0, namespace: 'b', matches: count('namespace b') }),
    watch({ from: 0, namespace: 'a', name: 'x', matches: count('object a/x') }),
    watch({ from: 0, name: 'x', matches: count('name x') }),
    watch({ from: 0, name: 'z', matches: count('name z') }),
    watch({ from: 0, fieldEquals: [['spec.nodeName', 'n1']], matches: count('node n1') }),
    watch({ from: 0, fieldEquals: [['spec.nodeName', 'n2']], matches: count('node n2') }),
  ].map((reader) => reader.rest());
  await live(cluster, 8);
  put({ ...X, node: 'n1' });
  await caughtUp();
  expect([...offered.keys()].sort((a, b) => (a < b ? -1 : 1))).toEqual([
    'all',
    'name x',
    'namespace a',
    'node n1',
    'object a/x',
  ]);
  put({ ...X, node: 'n2' });
  await caughtUp();
  controller.abort();
  const frames = await Promise.all(readers);
  expect(frames[6]).toEqual([]);
  expect(pods.stats().sent.reduce((sum, { frames: each }) => sum + each, 0)).toBe(5 + 6);
});

test('one frame per event and representation is encoded and shared by all watchers, joined into one piece per tick', async () => {
  await start();
  const representation = new JsonRepresentation();
  const streams = Array.from({ length: 20 }, () =>
    pods.watch(requestFor({ from: 0, representation }), controller.signal),
  );
  const pieces = streams.map(async (stream) => (await stream.next()).value as Buffer);
  await live(cluster, 20);
  put(X);
  put(Y);
  const buffers = await Promise.all(pieces);
  expect(representation.encoded).toBe(2);
  expect(framesOf(buffers[0]!).map(brief)).toEqual(['ADDED a/x@1', 'ADDED b/y@2']);
  expect(new Set(buffers).size).toBe(1);
});

test('delivered bytes are counted for flow control, including history but not the initial state', async () => {
  put(X);
  await start();
  const ofState: number[] = [];
  const ofHistory: number[] = [];
  const state = watch({ delivered: { add: (bytes) => ofState.push(bytes) } });
  const history = watch({ from: 0, delivered: { add: (bytes) => ofHistory.push(bytes) } });
  expect([await state.take(1), await history.take(1)]).toEqual([['ADDED a/x@1'], ['ADDED a/x@1']]);
  expect([ofState, ofHistory.length]).toEqual([[], 1]);
  const next = state.take(1);
  await live(cluster, 1);
  put({ ...X, data: 'much'.repeat(1_000) });
  expect(await next).toEqual(['MODIFIED a/x@2']);
  expect(ofState).toHaveLength(1);
  expect(ofState[0]).toBeGreaterThan(4_000);
});

test('a frame with ages is shared by live watchers, and encoded again for later ones', async () => {
  await start();
  const aged = Object.assign(new JsonRepresentation('table'), { tellsAge: true });
  const plain = new JsonRepresentation('plain');
  const read = [aged, aged, plain, plain].map(async (representation) =>
    watch({ from: 0, representation }).take(1),
  );
  await live(cluster, 4);
  put(X);
  await Promise.all(read);
  expect([aged.encoded, plain.encoded]).toEqual([1, 1]);
  for (const representation of [aged, plain]) {
    expect(await watch({ from: 0, representation }).take(1)).toEqual(['ADDED a/x@1']);
  }
  expect([aged.encoded, plain.encoded]).toEqual([2, 1]);
});

test('watches that begin together share the frame of a large object, not that of a small one', async () => {
  put({ ...X, data: 'x'.repeat(64 * 1024) });
  put(Y);
  await start();
  const plain = new JsonRepresentation('plain');
  const read = [1, 2, 3].map(async () => watch({ representation: plain }).take(2));
  expect(await Promise.all(read)).toEqual([1, 2, 3].map(() => ['ADDED a/x@1', 'ADDED b/y@2']));
  expect(plain.encoded).toBe(1 + 3);
});

test('a revision with several events is delivered as a whole', async () => {
  put(X);
  put(Y);
  await start();
  const frames = watch({ from: 2 }).take(2);
  backend.transact([{ key: podKey(X) }, { key: podKey(Y) }]);
  expect(await frames).toEqual(['DELETED a/x@3', 'DELETED b/y@3']);
});

test('a watch from a future revision waits and then delivers later events', async () => {
  await start();
  const frames = watch({ from: 2 }).take(1);
  put(X);
  put({ ...X, data: '2' });
  put({ ...X, data: '3' });
  expect(await frames).toEqual(['MODIFIED a/x@3']);
});

test('a watch ends at its timeout with a bookmark of its last revision, and without one if its start was never reached', async () => {
  put(X);
  await start();
  expect(await watch({ bookmarks: true, timeoutMs: 2_001 }).rest()).toEqual(['ADDED a/x@1', 'BOOKMARK @1']);
  expect(await watch({ bookmarks: true, timeoutMs: 20, from: 99 }).rest()).toEqual([]);
  expect(cluster.stats().watchesEnded.timeout).toBe(2);
});

test('a watch of two seconds or less ends without a bookmark, at its start or live', async () => {
  put(X);
  await start();
  const ends = [20, 1_000].map(async (timeoutMs) => watch({ bookmarks: true, timeoutMs }).rest());
  expect(await Promise.all(ends)).toEqual([['ADDED a/x@1'], ['ADDED a/x@1']]);
});

test('bookmarks are sent at the configured interval, after all events up to their revision', async () => {
  await start({ limits: { bookmarkIntervalMs: 50_000 } });
  const frames = watch({ from: 0, bookmarks: true }).take(3);
  const none = watch({ from: 0 }).take(1);
  await live(cluster, 2);
  put(X);
  await caughtUp();
  now += 49_999;
  cluster.sweep();
  now += 1;
  cluster.sweep();
  cluster.sweep();
  put(Y);
  expect(await frames).toEqual(['ADDED a/x@1', 'BOOKMARK @1', 'ADDED b/y@2']);
  expect(await none).toEqual(['ADDED a/x@1']);
});

test('a watcher whose client does not read is evicted, and other watchers get all events', async () => {
  const lines: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => lines.push(fields) };
  await start({ limits: { watcherQueueFramesMax: 3 }, log });
  const reasons: EndReason[] = [];
  const slow = watch({ from: 0, client: 'sleepy/1.0', ended: (reason) => reasons.push(reason) });
  const stalled = slow.next();
  put(X);
  expect(brief((await stalled)!)).toBe('ADDED a/x@1');
  const quick = watch({ from: 1 });
  for (let at = 0; at < 5; at += 1) {
    const frame = quick.next();
    put({ ...X, data: String(at) });
    expect(brief((await frame)!)).toBe(`MODIFIED a/x@${at + 2}`);
  }
  expect(reasons).toEqual(['slow']);
  expect(lines).toEqual([
    expect.objectContaining({
      resource: 'pods',
      client: 'sleepy/1.0',
      cause: 'queue full',
      queuedFrames: 3,
    }),
  ]);
  expect(cluster.stats().watchesEnded.slow).toBe(1);
  expect(await slow.next()).toBeUndefined();
});

test('a watch ended by the write timeout of its connection counts as slow, and its client is logged', async () => {
  const lines: object[] = [];
  await start({ log: { ...silentLog, warn: (fields: object) => lines.push(fields) } });
  const stop = new AbortController();
  const request = requestFor({ from: undefined, client: 'sleepy/1.0' });
  const reader = pods.watch(request, stop.signal);
  void reader.next();
  await live(cluster, 1);
  stop.abort(new SlowReaderError());
  expect(cluster.stats().watchesEnded).toMatchObject({ slow: 1, aborted: 0 });
  expect(pods.stats().slowEnded).toBe(1);
  expect(lines).toEqual([
    expect.objectContaining({ resource: 'pods', client: 'sleepy/1.0', cause: 'stalled' }),
  ]);
});

describe('a watch whose access is revoked', () => {
  let refuse: (refusal: StatusError) => void = () => undefined;
  const over = jest.fn();
  const ended: EndReason[] = [];
  const guarded = (): FrameReader =>
    watch({
      guard: (given) => {
        refuse = given;
        return over;
      },
      ended: (reason) => ended.push(reason),
    });

  beforeEach(async () => {
    await start();
    over.mockClear();
    ended.length = 0;
    put({ namespace: 'a', name: 'x' });
    await caughtUp();
  });

  test('delivers the error, and nothing that was still queued', async () => {
    const reader = guarded();
    expect(await reader.take(1)).toEqual(['ADDED a/x@1']);
    const second = reader.take(1);
    await live(cluster, 1);
    put({ namespace: 'a', name: 'y' });
    expect(await second).toEqual(['ADDED a/y@2']);
    put({ namespace: 'a', name: 'z' });
    await caughtUp();
    expect(over).not.toHaveBeenCalled();
    refuse(new StatusError('Forbidden', 'no'));
    refuse(new StatusError('Unauthorized', 'nor this'));
    expect(await reader.rest()).toEqual(['ERROR 403 Forbidden']);
    expect(ended).toEqual(['forbidden']);
    expect(over).toHaveBeenCalledTimes(1);
    expect(cluster.stats().watchesEnded).toMatchObject({ forbidden: 1, unauthorized: 0 });
  });

  test('delivers the error instead of the rest of the state', async () => {
    const reader = guarded();
    expect(await reader.take(1)).toEqual(['ADDED a/x@1']);
    refuse(new StatusError('Unauthorized', 'Unauthorized'));
    expect(await reader.rest()).toEqual(['ERROR 401 Unauthorized']);
    expect(ended).toEqual(['unauthorized']);
  });
});

test('a failing representation ends only its own watch', async () => {
  await start();
  const broken = new JsonRepresentation('broken');
  broken.frame = () => {
    throw new Error('no such version');
  };
  const failing = watch({ from: 0, representation: broken }).rest();
  const fine = watch({ from: 0 }).take(1);
  await live(cluster, 2);
  put(X);
  expect(await fine).toEqual(['ADDED a/x@1']);
  expect(await failing).toEqual([]);
  expect(cluster.stats()).toMatchObject({ rebuilds: 0, watchesEnded: { unavailable: 1 } });
});

test('a freshly started cache serves older versions from the store, through the prefix or the whole keyspace', async () => {
  put(X);
  put({ ...X, data: '2' });
  remove(X);
  backend.put('/registry/core/nodes/n', Buffer.from('{"kind":"Node","apiVersion":"v1","metadata":{}}'));
  await start();
  expect(pods.oldestWatchable).toBe(4);
  const quiet = watch({ from: 1 });
  expect(await quiet.take(2)).toEqual(['MODIFIED a/x@2', 'DELETED a/x@3']);
  const joined = quiet.take(1);
  put(Y);
  expect(await joined).toEqual(['ADDED b/y@5']);
  const busy = watch({ from: 0 });
  expect(await busy.take(4)).toEqual(['ADDED a/x@1', 'MODIFIED a/x@2', 'DELETED a/x@3', 'ADDED b/y@5']);
  const prefixes = backend.watches.filter(({ withPrevious }) => withPrevious).map(({ prefix }) => prefix);
  expect(prefixes).toEqual([undefined, '/registry/core/pods/']);
});

test('slow readers of history do not block other readers, and resume where they were preempted', async () => {
  for (let at = 0; at < 500; at += 1) put({ ...X, data: String(at) });
  await start({ limits: { historyStreamsMax: 1, historyPauseMsMax: 1 } });
  const trickling = [1, 2, 3].map(() => watch({ from: 1 }));
  for (const reader of trickling) expect(await reader.take(1)).toEqual(['MODIFIED a/x@2']);
  expect(await watch({ from: 1 }).take(499)).toHaveLength(499);
  const expected = Array.from({ length: 498 }, (_, at) => `MODIFIED a/x@${at + 3}`);
  for (const frames of await Promise.all(trickling.map((reader) => reader.take(498))))
    expect(frames).toEqual(expected);
});

test('a watch that waits for history gets bookmarks, but never of a revision it has not received', async () => {
  for (let at = 0; at < 300; at += 1) put({ ...X, data: String(at) });
  cluster = createCache(backend, { limits: { bookmarkIntervalMs: 10 } });
  await cluster.start(controller.signal);
  pods = cluster.resource(PODS.keyPrefix);
  const inTime = backend.watch.bind(backend);
  const hold: (() => void)[] = [];
  jest.spyOn(backend, 'watch').mockImplementation(async function* late(options, signal) {
    for await (const batch of inTime(options, signal)) {
      await new Promise<void>((resolve) => hold.push(resolve));
      yield batch;
    }
  });
  const reader = watch({ from: 5, bookmarks: true });
  expect(await reader.take(3)).toEqual(Array.from({ length: 3 }, () => 'BOOKMARK @5'));
  // Each bookmark must match the events before it. On a busy machine it may fall between events.
  const readBehind = async (delivered: number): Promise<number> => {
    const frame = brief((await reader.next())!);
    const isEvent = frame.startsWith('MODIFIED');
    expect(frame).toBe(isEvent ? `MODIFIED a/x@${delivered + 1}` : `BOOKMARK @${delivered}`);
    return isEvent ? delivered + 1 : delivered;
  };
  while (hold.length === 0) expect(await readBehind(5)).toBe(5);
  hold[0]?.();
  for (let delivered = 5; delivered < 105;) delivered = await readBehind(delivered);
  expect(await reader.take(2)).toEqual(['BOOKMARK @105', 'BOOKMARK @105']);
});

test('a watch that has sent no state gets no bookmark, nor does one from a future revision', async () => {
  cluster = createCache(backend, { limits: { bookmarkIntervalMs: 1, sweepIntervalMs: 5 } });
  const waiting = new FrameReader(
    cluster.resource(PODS.keyPrefix).watch(requestFor({ bookmarks: true, timeoutMs: 30 }), controller.signal),
  );
  expect(await waiting.rest()).toEqual([]);
  put(X);
  await cluster.start(controller.signal);
  pods = cluster.resource(PODS.keyPrefix);
  expect(await watch({ from: 9, bookmarks: true, timeoutMs: 30 }).rest()).toEqual([]);
});

test('aborted waiters for a fill are removed', async () => {
  cluster = createCache(backend);
  pods = cluster.resource(PODS.keyPrefix);
  const leaver = new AbortController();
  const waiting = [1, 2, 3].map(async () => pods.whenReady(leaver.signal).catch(() => 'left'));
  expect(pods.stats().readyWaiters).toBe(3);
  leaver.abort();
  expect(await Promise.all(waiting)).toEqual(['left', 'left', 'left']);
  expect(pods.stats().readyWaiters).toBe(0);
});

test('history that the store has compacted is a 410 in the stream', async () => {
  for (let at = 0; at < 5; at += 1) put({ ...X, data: String(at) });
  await start();
  await backend.compact(4, controller.signal);
  const reader = watch({ from: 1 });
  expect((await reader.next())?.object).toMatchObject({
    code: 410,
    reason: 'Expired',
    message: 'too old resource version: 1 (5)',
  });
  expect(await reader.next()).toBeUndefined();
});

test('an outage of the store during the history ends the watch cleanly, with a bookmark of the last delivered revision', async () => {
  put(X);
  put(X);
  await start();
  backend.fail(new StorageError('unavailable', 'down'));
  expect(await watch({ from: 1, bookmarks: true }).rest()).toEqual(['BOOKMARK @1']);
  backend.fail(undefined);
});

test('a snapshot never changes, is shared until the next change, and counts ranges', async () => {
  put(X);
  put(Y);
  put({ namespace: 'a-b', name: 'z', node: 'n1' });
  await start();
  const before = pods.snapshot();
  expect(pods.snapshot()).toBe(before);
  remove(X);
  put({ ...Y, node: 'n1' });
  await caughtUp();
  const after = pods.snapshot();
  const keys = (entries: Iterable<{ key: string }>): string[] => [...entries].map(({ key }) => key);
  expect(keys(before.entries())).toEqual(['a-b/z', 'a/x', 'b/y']);
  expect(keys(after.entries())).toEqual(['a-b/z', 'b/y']);
  expect(keys(before.entries('a/', 'b'))).toEqual(['a/x']);
  expect(keys(before.byField('spec.nodeName', 'n1'))).toEqual(['a-b/z']);
  expect(keys(after.byField('spec.nodeName', 'n1'))).toEqual(['a-b/z', 'b/y']);
  expect(keys(before.byField('spec.nodeName', ''))).toEqual(['a/x', 'b/y']);
  expect(keys(after.byField('metadata.name', 'y'))).toEqual(['b/y']);
  const inA = namespaceRange('a');
  expect([before.size, before.count(...inA), before.count('a/x'), after.count(...inA)]).toEqual([3, 1, 2, 0]);
  expect([before.revision, after.revision]).toEqual([3, 5]);
});

test('a past revision is rebuilt from the ring buffer, or found among retained snapshots once its events are dropped', async () => {
  put(X);
  await start();
  const states: string[][] = [];
  const state = async (revision: number): Promise<string[] | undefined> => {
    const snapshot = await pods.snapshotAt(revision);
    return snapshot && [...snapshot.entries()].map(({ key, revision: at }) => `${key}@${at}`);
  };
  for (const change of [() => put(Y), () => put({ ...X, node: 'n' }), () => remove(Y), () => remove(X)]) {
    change();
    await caughtUp();
    states.push([...pods.snapshot().entries()].map(({ key, revision }) => `${key}@${revision}`));
    if (backend.revision === 3) pods.retain(pods.snapshot());
  }
  expect(await Promise.all([2, 3, 4, 5].map(state))).toEqual(states);
  expect([...((await pods.snapshotAt(3))?.byField('spec.nodeName', 'n') ?? [])]).toHaveLength(1);
  expect(await state(1)).toEqual(['a/x@1']);
  expect(await state(6)).toBeUndefined();
  now += 5 * 60_000;
  pods.sweep(now + 1);
  expect(pods.oldestWatchable).toBe(5);
  expect(await Promise.all([2, 3, 4, 5].map(state))).toEqual([undefined, states[1], undefined, states[3]]);
  now += 2;
  cluster.sweep();
  expect(await state(3)).toBeUndefined();
});

test('a snapshot from before a rebuild is not retained for later pages', async () => {
  put(X);
  await start();
  put(Y);
  await caughtUp();
  const past = await pods.snapshotAt(1);
  if (past === undefined) throw new Error('the ring buffer should contain it');
  cluster.rebuildResource(PODS.keyPrefix, 'a test');
  await pods.whenReady(controller.signal);
  pods.retain(past);
  expect(await pods.snapshotAt(1)).toBeUndefined();
});

test('the budgets of ring buffers and derived frames hold, and dropped history is served by the store', async () => {
  await start({ limits: { ringBytesMax: 20_000, derivedBytesMax: 10_000 } });
  const frames = watch({ from: 0 }).take(200);
  for (let at = 0; at < 200; at += 1) put({ ...X, data: 'd'.repeat(500) });
  expect(await frames).toHaveLength(200);
  const stats = cluster.stats();
  expect(stats.ringBytes).toBeLessThanOrEqual(20_000);
  expect(stats.derivedBytes).toBeLessThanOrEqual(10_000);
  expect(pods.oldestWatchable).toBeGreaterThan(150);
  expect(pods.stats().slabBytes).toBeLessThan(200_000);
  expect(await watch({ from: 10 }).take(1)).toEqual(['MODIFIED a/x@11']);
});
