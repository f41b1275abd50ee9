import type { ClusterCache } from '../cluster-cache';
import {
  brief,
  caughtUp,
  createCache,
  FrameReader,
  podBytes,
  podKey,
  PODS,
  requestFor,
} from '../testing/fixtures';
import { FaultyMemoryBackend } from '../../storage/testing/faulty-memory-backend';

let backend: FaultyMemoryBackend;
let cache: ClusterCache;
let shutdown: AbortController;
/** The end of each watch, in order. */
let ends: { readonly client: string; readonly afterMs: number }[];
let startedAt: number;

beforeEach(async () => {
  backend = new FaultyMemoryBackend();
  backend.put(podKey(POD), podBytes(POD));
  shutdown = new AbortController();
  cache = createCache(backend);
  await cache.start(shutdown.signal);
  ends = [];
  startedAt = performance.now();
});
afterEach(() => {
  jest.useRealTimers();
  shutdown.abort();
});

/** Switches to fake timers, which only `pass` advances. */
function holdTime(): void {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] });
  startedAt = performance.now();
}

/** Advances the time in the steps of a drain. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) await jest.advanceTimersByTimeAsync(STEP_MS);
}

const STEP_MS = 10;

const POD = { namespace: 'a', name: 'x' };

/** Reads a watch to its end; resolves with its last frame. */
async function watch(client: string, from?: number): Promise<string | undefined> {
  const frames = new FrameReader(
    cache.resource(PODS.keyPrefix).watch(
      requestFor({
        client,
        bookmarks: true,
        from,
        ended: () => ends.push({ client, afterMs: performance.now() - startedAt }),
      }),
      shutdown.signal,
    ),
  );
  let last: string | undefined;
  for (let frame = await frames.next(); frame !== undefined; frame = await frames.next()) last = brief(frame);
  return last;
}

async function live(count: number): Promise<void> {
  while (cache.watchers().filter(({ isLive }) => isLive).length < count) await new Promise(setImmediate);
}

test('watches end spread over the whole time, the oldest first, each with a bookmark', async () => {
  const names = ['1', '2', '3', '4'];
  const lasts: Promise<string | undefined>[] = [];
  for (const name of names) {
    lasts.push(watch(name));
    await live(lasts.length);
  }
  await caughtUp(cache, backend);
  holdTime();
  const drained = cache.drain({ spreadMs: 800, refuseNew: false }, shutdown.signal);
  await pass(800);
  await drained;
  expect(await Promise.all(lasts)).toEqual(names.map(() => 'BOOKMARK @1'));
  expect(ends.map(({ client }) => client)).toEqual(names);
  // In fake time.
  const pauses = ends.map(({ afterMs }, at) => afterMs - (ends[at - 1]?.afterMs ?? 0));
  expect(Math.min(...pauses)).toBeGreaterThan(50);
});

test('a watch that begins during the drain is served and ends after the earlier ones, and none is missed', async () => {
  const early = watch('early');
  await live(1);
  holdTime();
  const drained = cache.drain({ spreadMs: 400, refuseNew: false }, shutdown.signal);
  while (ends.length === 0) await pass(STEP_MS);
  await early;
  const late = watch('late', backend.revision);
  await live(1);
  backend.put(podKey(POD), podBytes({ ...POD, data: 'new' }));
  await pass(400);
  expect(await late).toBe('BOOKMARK @2');
  await drained;
  expect(ends.map(({ client }) => client)).toEqual(['early', 'late']);
  expect(cache.watchers()).toEqual([]);
  expect(cache.refusesWatches).toBe(false);
});

test('once new watches are refused, the drain does not wait for them, and one that still begins ends at once and cleanly', async () => {
  const open = watch('open');
  await live(1);
  const drained = cache.drain({ spreadMs: 60_000, refuseNew: true }, AbortSignal.timeout(20));
  expect(cache.refusesWatches).toBe(true);
  expect(await watch('late', 1)).toBeUndefined();
  await drained;
  expect(await open).toBe('BOOKMARK @1');
  await cache.drain({ spreadMs: 60_000, refuseNew: true }, shutdown.signal);
  expect(cache.stats().watchesEnded.drain).toBe(2);
});

test('a watch in catch-up ends without a bookmark', async () => {
  for (const name of ['p', 'q', 'r'])
    backend.put(podKey({ namespace: 'a', name }), podBytes({ ...POD, name, data: 'x'.repeat(200_000) }));
  await caughtUp(cache, backend);
  const frames = new FrameReader(
    cache.resource(PODS.keyPrefix).watch(requestFor({ bookmarks: true }), shutdown.signal),
  );
  expect(await frames.take(1)).toEqual(['ADDED a/p@2']);
  await cache.drain({ spreadMs: 0, refuseNew: false }, shutdown.signal);
  const rest = await frames.rest();
  expect(rest).not.toContain('ADDED a/r@4');
  expect(rest).not.toContainEqual(expect.stringContaining('BOOKMARK'));
});
