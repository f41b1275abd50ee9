import { silentLog } from '../../../../shared/log/log';
import { eventually } from '../../../../shared/testing/eventually';
import { FaultyMemoryBackend } from '../../storage/testing/faulty-memory-backend';
import type { ClusterCache } from '../cluster-cache';
import type { FrameWorker } from '../state/entry';
import type { CacheLimits } from '../limits';
import type { FrameReader } from '../testing/fixtures';
import * as fixtures from '../testing/fixtures';
import type { WatchRequest } from './watch-request';

const { createCache, JsonRepresentation, live, podBytes, podKey, PODS, requestFor } = fixtures;
const X = { namespace: 'a', name: 'x' };
const Y = { namespace: 'a', name: 'y' };
/** Large enough to be encoded by the worker. */
const LARGE = { ...X, data: 'large'.repeat(100) };
const LARGE_BYTES = 400;

let backend: FaultyMemoryBackend;
let cluster: ClusterCache;
let controller: AbortController;
let now: number;
/** Requested frames, in the order of their requests. */
let requested: { readonly make: () => void; readonly fail: () => void }[];

beforeEach(() => {
  backend = new FaultyMemoryBackend();
  controller = new AbortController();
  now = 1_000_000;
  requested = [];
});
afterEach(() => {
  controller.abort();
});

async function start(limits: Partial<CacheLimits> = {}): Promise<void> {
  cluster = createCache(backend, { clock: { now: () => now }, limits, log: silentLog });
  await cluster.start(controller.signal);
}

function put(pod: Parameters<typeof podBytes>[0]): number {
  return backend.put(podKey(pod), podBytes(pod));
}

const representation = new JsonRepresentation();
/** For a watch without a worker and with a representation of its own. */
const HERE = { frameWorker: undefined, representation: new JsonRepresentation('other') };
const frameWorker: FrameWorker = (type, entry) => {
  if (entry.bytes.length < LARGE_BYTES) return undefined;
  return new Promise((resolve, reject) => {
    requested.push({
      make: () => resolve(representation.frame(type, entry)),
      fail: () => reject(new Error('the worker failed')),
    });
  });
};

function watch(parts: Partial<WatchRequest> = {}): FrameReader {
  const request = requestFor({ representation, frameWorker, ...parts });
  return new fixtures.FrameReader(cluster.resource(PODS.keyPrefix).watch(request, controller.signal));
}

async function whenRequested(count: number): Promise<void> {
  await eventually(`${String(count)} frames are requested`, () => requested.length >= count);
}

/** Opens a live watch without pending events. */
async function liveWatch(parts: Partial<WatchRequest> = {}): Promise<AsyncGenerator<string>> {
  const before = cluster.watchers().filter(({ isLive }) => isLive).length;
  const reader = watch({ from: backend.revision, ...parts });
  const first = reader.next();
  await live(cluster, before + 1);
  return (async function* frames(): AsyncGenerator<string> {
    for (let frame = await first; frame !== undefined; frame = await reader.next())
      yield fixtures.brief(frame);
  })();
}

async function take(frames: AsyncGenerator<string>, count: number): Promise<string[]> {
  const taken: string[] = [];
  while (taken.length < count) {
    const step = await frames.next();
    if (step.done === true) break;
    taken.push(step.value);
  }
  return taken;
}

test('events wait in order for a frame from a worker, and other watchers do not wait', async () => {
  await start();
  const waiting = await liveWatch();
  const other = await liveWatch(HERE);
  put(Y);
  put(LARGE);
  put({ ...Y, data: 'between' });
  put({ ...LARGE, data: 'larger'.repeat(100) });
  put({ ...Y, data: 'last' });
  const all = ['ADDED a/y@1', 'ADDED a/x@2', 'MODIFIED a/y@3', 'MODIFIED a/x@4', 'MODIFIED a/y@5'];
  expect(await take(other, 5)).toEqual(all);
  expect(await take(waiting, 1)).toEqual(all.slice(0, 1));
  await whenRequested(1);
  requested[0]?.make();
  expect(await take(waiting, 2)).toEqual(all.slice(1, 3));
  await whenRequested(2);
  requested[1]?.make();
  expect(await take(waiting, 2)).toEqual(all.slice(3));
  put(Y);
  expect(await take(waiting, 1)).toEqual(['MODIFIED a/y@6']);
});

test('no bookmark covers held events, neither periodic nor at the end', async () => {
  await start({ bookmarkIntervalMs: 1_000, sweepIntervalMs: 1 });
  const waiting = await liveWatch({ bookmarks: true });
  const other = await liveWatch({ bookmarks: true, ...HERE });
  put(Y);
  put(LARGE);
  expect(await take(other, 2)).toEqual(['ADDED a/y@1', 'ADDED a/x@2']);
  now += 2_000;
  expect(await take(other, 1)).toEqual(['BOOKMARK @2']);
  await cluster.drain({ spreadMs: 0, refuseNew: true }, controller.signal);
  requested[0]?.make();
  expect(await take(waiting, 9)).toEqual(['ADDED a/y@1']);
});

test('a watch is evicted when its queue fills up while it waits for a frame', async () => {
  await start({ watcherQueueFramesMax: 3 });
  const ended = new Promise((resolve) => {
    void liveWatch({ ended: resolve });
  });
  await live(cluster, 1);
  put(LARGE);
  for (let count = 0; count < 3; count += 1) put({ ...Y, data: String(count) });
  expect(await ended).toBe('slow');
});

test('a watch ends when its frame cannot be encoded', async () => {
  await start();
  const waiting = await liveWatch();
  put(LARGE);
  await whenRequested(1);
  requested[0]?.fail();
  expect(await take(waiting, 1)).toEqual([]);
});

test('during catch-up a watch waits for large frames of the state and of events, in order', async () => {
  put(LARGE);
  put(Y);
  await start();
  const state = watch();
  const first = state.take(1);
  await whenRequested(1);
  // These writes happen while the state is sent.
  put({ ...LARGE, data: 'larger'.repeat(100) });
  put({ ...Y, data: 'new' });
  requested[0]?.make();
  expect(await first).toEqual(['ADDED a/x@1']);
  expect(await state.take(1)).toEqual(['ADDED a/y@2']);
  const rest = state.take(2);
  await whenRequested(2);
  requested[1]?.make();
  expect(await rest).toEqual(['MODIFIED a/x@3', 'MODIFIED a/y@4']);
  await live(cluster, 1);
});

test('a watch of history waits for large frames of events from the store', async () => {
  put(Y);
  put(LARGE);
  put({ ...Y, data: 'new' });
  await start();
  const past = watch({ from: 1 }).take(2);
  await whenRequested(1);
  requested[0]?.make();
  expect(await past).toEqual(['ADDED a/x@2', 'MODIFIED a/y@3']);
});
