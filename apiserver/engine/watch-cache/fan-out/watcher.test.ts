import { silentLog } from '../../../../shared/log/log';
import { eventually } from '../../../../shared/testing/eventually';
import { MemoryBackend } from '../../storage/testing/memory-backend';
import type { ClusterCache } from '../cluster-cache';
import type { FrameElsewhere } from '../state/entry';
import type { CacheLimits } from '../limits';
import type { FrameReader } from '../testing/fixtures';
import * as fixtures from '../testing/fixtures';
import type { WatchRequest } from './watch-request';

const { createCache, JsonRepresentation, live, podBytes, podKey, PODS, requestFor } = fixtures;
const X = { namespace: 'a', name: 'x' };
const Y = { namespace: 'a', name: 'y' };
/** What is made elsewhere. */
const LARGE = { ...X, data: 'large'.repeat(100) };
const LARGE_BYTES = 400;

let backend: MemoryBackend;
let cluster: ClusterCache;
let controller: AbortController;
let now: number;
/** Frames that are to be made, in the order in which they were asked for. */
let asked: { readonly make: () => void; readonly fail: () => void }[];

beforeEach(() => {
  backend = new MemoryBackend();
  controller = new AbortController();
  now = 1_000_000;
  asked = [];
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
/** For a watch whose frames are all made here, and shared with nobody. */
const HERE = { elsewhere: undefined, representation: new JsonRepresentation('other') };
const elsewhere: FrameElsewhere = (type, entry) => {
  if (entry.bytes.length < LARGE_BYTES) return undefined;
  return new Promise((resolve, reject) => {
    asked.push({
      make: () => resolve(representation.frame(type, entry)),
      fail: () => reject(new Error('nobody can')),
    });
  });
};

function watch(parts: Partial<WatchRequest> = {}): FrameReader {
  const request = requestFor({ representation, elsewhere, ...parts });
  return new fixtures.FrameReader(cluster.resource(PODS.keyPrefix).watch(request, controller.signal));
}

async function askedFor(count: number): Promise<void> {
  await eventually(`${String(count)} frames are asked for`, () => asked.length >= count);
}

/** Opens a watch that is live, and has nothing to tell yet. */
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

test('events wait in order for a frame that is made elsewhere, and other watchers do not wait', async () => {
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
  await askedFor(1);
  asked[0]?.make();
  expect(await take(waiting, 2)).toEqual(all.slice(1, 3));
  await askedFor(2);
  asked[1]?.make();
  expect(await take(waiting, 2)).toEqual(all.slice(3));
  put(Y);
  expect(await take(waiting, 1)).toEqual(['MODIFIED a/y@6']);
});

test('no bookmark promises what is held, neither in its time nor at the end', async () => {
  await start({ bookmarkIntervalMs: 1_000, sweepIntervalMs: 1 });
  const waiting = await liveWatch({ bookmarks: true });
  const other = await liveWatch({ bookmarks: true, ...HERE });
  put(Y);
  put(LARGE);
  expect(await take(other, 2)).toEqual(['ADDED a/y@1', 'ADDED a/x@2']);
  now += 2_000;
  expect(await take(other, 1)).toEqual(['BOOKMARK @2']);
  await cluster.drain({ spreadMs: 0, refuseNew: true }, controller.signal);
  asked[0]?.make();
  expect(await take(waiting, 9)).toEqual(['ADDED a/y@1']);
});

test('a watch whose frame is not made in time to hold the queue within its bounds is ended as slow', async () => {
  await start({ watcherQueueFramesMax: 3 });
  const ended = new Promise((resolve) => {
    void liveWatch({ ended: resolve });
  });
  await live(cluster, 1);
  put(LARGE);
  for (let count = 0; count < 3; count += 1) put({ ...Y, data: String(count) });
  expect(await ended).toBe('slow');
});

test('a watch whose frame nobody can make is ended', async () => {
  await start();
  const waiting = await liveWatch();
  put(LARGE);
  await askedFor(1);
  asked[0]?.fail();
  expect(await take(waiting, 1)).toEqual([]);
});

test('a watch that begins waits for large frames of the state and of what has happened, each in its place', async () => {
  put(LARGE);
  put(Y);
  await start();
  const state = watch();
  const first = state.take(1);
  await askedFor(1);
  // Happens while the state is handed out.
  put({ ...LARGE, data: 'larger'.repeat(100) });
  put({ ...Y, data: 'new' });
  asked[0]?.make();
  expect(await first).toEqual(['ADDED a/x@1']);
  expect(await state.take(1)).toEqual(['ADDED a/y@2']);
  const rest = state.take(2);
  await askedFor(2);
  asked[1]?.make();
  expect(await rest).toEqual(['MODIFIED a/x@3', 'MODIFIED a/y@4']);
  await live(cluster, 1);
});

test('a watch that is about the past waits for large frames out of the store', async () => {
  put(Y);
  put(LARGE);
  put({ ...Y, data: 'new' });
  await start();
  const past = watch({ from: 1 }).take(2);
  await askedFor(1);
  asked[0]?.make();
  expect(await past).toEqual(['ADDED a/x@2', 'MODIFIED a/y@3']);
});
