import { setMaxListeners } from 'node:events';
import { silentLog } from '../../../../shared/log/log';
import { eventually } from '../../../../shared/testing/eventually';
import { FaultyMemoryBackend } from '../../storage/testing/faulty-memory-backend';
import type { ClusterCache } from '../cluster-cache';
import {
  caughtUp,
  createCache,
  FrameReader,
  live,
  podBytes,
  podKey,
  PODS,
  requestFor,
} from '../testing/fixtures';
import { QueueBudget } from './queue-budget';
import { Run } from './run';

const FRAME = Buffer.alloc(1_000);
const OTHER = Buffer.alloc(500);

test('a frame in several queues counts once, until the last queue releases it', () => {
  const budget = new QueueBudget(2_000);
  const [first, second] = [Run.createEmpty(budget), Run.createEmpty(budget)];
  const [a, b] = [first.append(FRAME), second.append(FRAME)];
  a.hold();
  const linkBytes = budget.bytes - FRAME.length;
  expect(linkBytes).toBeGreaterThan(0);
  // Watchers with the same pending frames hold the same run.
  a.hold();
  expect(budget.bytes).toBe(FRAME.length + linkBytes);
  b.hold();
  expect(budget.bytes).toBe(FRAME.length + 2 * linkBytes);
  const longer = a.append(OTHER);
  longer.hold();
  for (const run of [a, a, b]) run.release();
  expect(budget.bytes).toBe(FRAME.length + OTHER.length + 2 * linkBytes);
  expect(budget.isExceeded).toBe(false);
  longer.release();
  expect(budget.bytes).toBe(0);
});

describe('in a cache', () => {
  let backend: FaultyMemoryBackend;
  let cluster: ClusterCache;
  let controller: AbortController;
  let lines: object[];

  beforeEach(async () => {
    backend = new FaultyMemoryBackend();
    controller = new AbortController();
    lines = [];
    setMaxListeners(0, controller.signal);
    const log = { ...silentLog, warn: (fields: object) => lines.push(fields) };
    cluster = createCache(backend, { limits: { watcherQueuesBytesMax: 20_000 }, log });
    await cluster.start(controller.signal);
  });

  afterEach(() => {
    controller.abort();
  });

  const put = (at: number): number => {
    const pod = { namespace: 'a', name: `p-${String(at)}`, data: 'x'.repeat(900) };
    return backend.put(podKey(pod), podBytes(pod));
  };

  function watch(client: string, from: number): FrameReader {
    const request = requestFor({ from, client });
    return new FrameReader(cluster.resource(PODS.keyPrefix).watch(request, controller.signal));
  }

  /** Reads all frames and counts them. */
  function follow(reader: FrameReader): { frames: number } {
    const seen = { frames: 0 };
    void (async () => {
      while ((await reader.next()) !== undefined) seen.frames += 1;
    })();
    return seen;
  }

  test('when all queues together exceed the budget, the longest are evicted, and a client that reads gets all events', async () => {
    const stuck = watch('stuck/1.0', 0);
    const first = stuck.next();
    await live(cluster, 1);
    put(0);
    await first;
    const seen = follow(watch('quick/1.0', 1));
    for (let at = 1; at <= 40; at += 1) {
      put(at);
      await eventually('the reading client has the event', () => seen.frames === at);
    }
    expect(lines).toEqual([expect.objectContaining({ client: 'stuck/1.0', cause: 'all queues full' })]);
    expect(cluster.stats().watchesEnded.slow).toBe(1);
    await eventually('nothing is queued', () => cluster.stats().queuedBytes === 0);
  });

  test('many short queues of one holder give way before the longer queue of another', async () => {
    const opened = ['victim', 'x-0', 'x-1', 'x-2', 'x-3'].map((name) => {
      const holder = name === 'victim' ? 'victim' : 'attacker';
      const request = { ...requestFor({ from: 0, client: name }), namespace: 'a', name, holder };
      const reader = new FrameReader(cluster.resource(PODS.keyPrefix).watch(request, controller.signal));
      return { name, first: reader.next() };
    });
    await live(cluster, 5);
    const putNamed = (name: string): number => {
      const pod = { namespace: 'a', name, data: 'x'.repeat(900) };
      return backend.put(podKey(pod), podBytes(pod));
    };
    for (const { name, first } of opened) {
      putNamed(name);
      await first;
    }
    for (let at = 0; at < 6; at += 1) putNamed('victim');
    for (let at = 0; at < 4; at += 1) for (const { name } of opened.slice(1)) putNamed(name);
    await eventually('a watcher is evicted', () => lines.length > 0);
    await caughtUp(cluster, backend);
    expect(lines.map((line) => (line as { client: string }).client)).not.toContain('victim');
  });

  test('the budget is the sum of all queues, including unread queues of ended watches', async () => {
    const cache = cluster.resource(PODS.keyPrefix);
    const sumOfQueues = (): number =>
      cluster.watchers().reduce((sum, { queuedBytes }) => sum + queuedBytes, 0);
    const readers = [watch('one/1.0', 0)];
    const first = readers[0]?.next();
    await live(cluster, 1);
    put(0);
    await first;
    for (const at of [1, 2, 3]) put(at);
    await eventually('frames are queued', () => cluster.watchers()[0]?.queuedFrames === 3);
    const { queuedBytes } = cluster.stats();
    expect(queuedBytes).toBeGreaterThan(3 * 900);
    expect(sumOfQueues()).toBe(queuedBytes);
    cache.watches.redefine();
    expect([cluster.stats().watchers, cache.watches.open(), sumOfQueues()]).toEqual([0, [], queuedBytes]);
    for (const reader of readers) await reader.rest();
    expect([cluster.stats().queuedBytes, cluster.watchers()]).toEqual([0, []]);
  });

  test('the unread queue of an ended watch is evicted first, and its connection is closed', async () => {
    const cache = cluster.resource(PODS.keyPrefix);
    const ends: string[] = [];
    const request = requestFor({ from: 0, client: 'stuck/1.0', ended: (reason) => ends.push(reason) });
    const stuck = new FrameReader(cache.watch(request, controller.signal));
    const first = stuck.next();
    await live(cluster, 1);
    put(0);
    await first;
    for (let at = 1; at <= 15; at += 1) put(at);
    await eventually('frames are queued', () => cluster.watchers()[0]?.queuedFrames === 15);
    cache.watches.redefine();
    const other = watch('other/1.0', 16);
    const next = other.next();
    await live(cluster, 1);
    for (let at = 16; at <= 25; at += 1) put(at);
    await next;
    await eventually('the budget is met again', () => ends.length === 2);
    expect(ends).toEqual(['redefined', 'slow']);
    expect(lines).toEqual([expect.objectContaining({ client: 'stuck/1.0', cause: 'all queues full' })]);
    expect(cluster.watchers().map(({ client }) => client)).toEqual(['other/1.0']);
  });

  test('a closed watch no longer counts, even if it ended with unread frames', async () => {
    const stop = new AbortController();
    const cache = cluster.resource(PODS.keyPrefix);
    const ended = cache.watch(requestFor({ from: 0 }), stop.signal);
    const left = cache.watch(requestFor({ from: 0 }), stop.signal);
    const firsts = [ended.next(), left.next()];
    await live(cluster, 2);
    put(0);
    await Promise.all(firsts);
    put(1);
    await eventually('frames are queued', () => cluster.stats().queuedBytes > 0);
    cache.watches.redefine();
    expect(cluster.stats().queuedBytes).toBeGreaterThan(0);
    await ended.return?.();
    await left.return?.();
    expect(cluster.stats().queuedBytes).toBe(0);
    stop.abort();
  });
});
