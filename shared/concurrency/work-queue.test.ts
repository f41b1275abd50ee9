import { silentLog } from '../log/log';
import { runWorkers, TerminalError } from './work-loop';
import type { WorkQueue } from './work-queue';
import { WorkQueueFullError, createWorkQueue } from './work-queue';

const { signal } = new AbortController();

async function takeAll(queue: WorkQueue, count: number): Promise<(string | undefined)[]> {
  return Promise.all(Array.from({ length: count }, async () => queue.take(signal)));
}

test('keys come in the order they were added, each once however often it was added', async () => {
  const queue = createWorkQueue();
  for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
  expect(queue.length).toBe(3);
  expect(await takeAll(queue, 3)).toEqual(['a', 'b', 'c']);
  expect(queue.length).toBe(0);
});

test('namespaces take turns, and keys without one come in their order', async () => {
  const queue = createWorkQueue();
  for (const key of ['a/1', 'a/2', 'a/3', 'b/1', 'x', 'b/2', 'y']) queue.add(key);
  expect(await takeAll(queue, 7)).toEqual(['a/1', 'b/1', 'x', 'y', 'a/2', 'b/2', 'a/3']);
  const byFlow = createWorkQueue({ flowOf: (key) => key.charAt(0) });
  for (const key of ['a1', 'a2', 'b1']) byFlow.add(key);
  expect(await takeAll(byFlow, 3)).toEqual(['a1', 'b1', 'a2']);
});

test('a flow has a bounded number of keys in progress, and gets the next one when one is done', async () => {
  const queue = createWorkQueue();
  queue.limitFlows(2);
  for (const key of ['a/1', 'a/2', 'a/3']) queue.add(key);
  const taken = takeAll(queue, 4);
  queue.add('b/1');
  queue.done('a/1');
  expect(await taken).toEqual(['a/1', 'a/2', 'b/1', 'a/3']);
  queue.add('a/4');
  queue.shutDown();
  expect(queue.length).toBe(1);
  const last = takeAll(queue, 2);
  queue.done('a/2');
  expect(await last).toEqual(['a/4', undefined]);
});

test('a key is never worked on twice at once, and comes again when it was added meanwhile', async () => {
  const queue = createWorkQueue();
  queue.add('a');
  expect(await queue.take(signal)).toBe('a');
  queue.add('a');
  queue.add('a');
  queue.add('b');
  expect(await queue.take(signal)).toBe('b');
  expect(queue.length).toBe(0);
  queue.done('a');
  expect(await queue.take(signal)).toBe('a');
  queue.done('a');
  expect(queue.length).toBe(0);
});

test('waiting takers are served in order', async () => {
  const queue = createWorkQueue();
  const taken = takeAll(queue, 2);
  queue.add('a');
  queue.add('b');
  expect(await taken).toEqual(['a', 'b']);
});

test('shutting down hands out waiting keys, accepts no more and wakes every taker', async () => {
  const queue = createWorkQueue();
  queue.add('a');
  queue.shutDown();
  queue.add('b');
  expect(await takeAll(queue, 2)).toEqual(['a', undefined]);
  const other = createWorkQueue();
  const taken = takeAll(other, 2);
  other.shutDown();
  expect(await taken).toEqual([undefined, undefined]);
});

test('a key handed over to an aborted taker is not lost', async () => {
  const queue = createWorkQueue();
  const stop = new AbortController();
  const taken = queue.take(stop.signal);
  queue.add('a');
  stop.abort(new Error('gave up'));
  const got = await taken.catch(() => 'none');
  expect(got === 'a' ? got : await queue.take(signal)).toBe('a');
});

test('beyond its bound the queue says so', () => {
  const queue = createWorkQueue({ keysMax: 2 });
  queue.add('a');
  queue.addAfter('b', 1000);
  expect(() => queue.add('c')).toThrow(WorkQueueFullError);
  queue.add('a');
  queue.shutDown();
});

test('a failure that every try would repeat ends the retries of its key, others do not', async () => {
  const queue = createWorkQueue({ retryInitialMs: 1 });
  const stop = new AbortController();
  const calls: string[] = [];
  const reconcile = async (key: string): Promise<undefined> => {
    calls.push(key);
    if (calls.filter((each) => each === 'again').length === 3) stop.abort();
    throw key === 'final' ? new TerminalError('no such path') : new Error('busy');
  };
  for (const key of ['final', 'again']) queue.add(key);
  await runWorkers({ queue, workers: 1, log: silentLog, reconcile }, stop.signal);
  expect(calls).toEqual(['final', 'again', 'again', 'again']);
});

describe('with a clock that is moved', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  test('a delayed key comes after its delay, and of several delays the earliest counts', () => {
    const queue = createWorkQueue();
    queue.addAfter('a', 100);
    queue.addAfter('a', 50);
    queue.addAfter('a', 80);
    jest.advanceTimersByTime(49);
    expect(queue.length).toBe(0);
    jest.advanceTimersByTime(1);
    expect(queue.length).toBe(1);
    jest.advanceTimersByTime(1000);
    expect(queue.length).toBe(1);
  });

  test('the backoff of a key doubles up to its limit and restarts once it is forgotten', () => {
    const queue = createWorkQueue({ retryInitialMs: 10, retryMaxMs: 35 });
    const waits = (): number => {
      queue.addRateLimited('a');
      let ms = 0;
      while (queue.length === 0 && ms < 1000) {
        jest.advanceTimersByTime(1);
        ms += 1;
      }
      void queue.take(signal);
      queue.done('a');
      return ms;
    };
    expect([waits(), waits(), waits(), waits()]).toEqual([10, 20, 35, 35]);
    expect(queue.retries('a')).toBe(4);
    queue.forget('a');
    expect(waits()).toBe(10);
  });

  test('a key that the server throttled returns no sooner, others by their own backoff', async () => {
    const queue = createWorkQueue({ retryInitialMs: 5, retryMaxMs: 60_000 });
    const stop = new AbortController();
    const calls: string[] = [];
    const log = silentLog;
    const reconcile = async (key: string): Promise<undefined> => {
      calls.push(key);
      throw new Error(key);
    };
    const retryAfterMs = (error: unknown): number | undefined =>
      error instanceof Error && error.message === 'throttled' ? 7_000 : undefined;
    const finished = runWorkers({ queue, workers: 2, log, reconcile, retryAfterMs }, stop.signal);
    for (const key of ['throttled', 'failed']) queue.add(key);
    await jest.advanceTimersByTimeAsync(6_999);
    expect(calls.filter((key) => key === 'throttled')).toHaveLength(1);
    expect(calls.filter((key) => key === 'failed').length).toBeGreaterThan(5);
    await jest.advanceTimersByTimeAsync(1);
    expect(calls.filter((key) => key === 'throttled')).toHaveLength(2);
    stop.abort();
    await finished;
  });
});

test('workers retry failures, requeue on request, and end with the signal', async () => {
  const queue = createWorkQueue({ retryInitialMs: 1 });
  const stop = new AbortController();
  const calls: string[] = [];
  const finished = runWorkers(
    {
      queue,
      workers: 3,
      log: silentLog,
      reconcile: async (key) => {
        await Promise.resolve();
        calls.push(key);
        if (key === 'fails' && calls.filter((call) => call === key).length < 3) throw new Error('not yet');
        if (key === 'waits' && calls.filter((call) => call === key).length < 2) return { requeueAfterMs: 1 };
        if (calls.length === 6) stop.abort();
        return undefined;
      },
    },
    stop.signal,
  );
  for (const key of ['fails', 'waits', 'once']) queue.add(key);
  await finished;
  expect(calls.toSorted()).toEqual(['fails', 'fails', 'fails', 'once', 'waits', 'waits']);
  expect(queue.retries('fails')).toBe(0);
});

test('a thousand keys of ten producers are each worked on at least once, and never twice at once', async () => {
  const queue = createWorkQueue();
  const stop = new AbortController();
  const running = new Set<string>();
  const done = new Set<string>();
  const finished = runWorkers(
    {
      queue,
      workers: 8,
      log: silentLog,
      reconcile: async (key) => {
        expect(running.has(key)).toBe(false);
        running.add(key);
        await new Promise(setImmediate);
        running.delete(key);
        done.add(key);
        if (done.size === 1000 && queue.length === 0) stop.abort();
        return undefined;
      },
    },
    stop.signal,
  );
  for (let producer = 0; producer < 10; producer += 1) {
    for (let index = 0; index < 1000; index += 1) queue.add(`key-${String((index * 7 + producer) % 1000)}`);
    await new Promise(setImmediate);
  }
  await finished;
  expect(done.size).toBe(1000);
});

test('a key whose flow changes while it waits is taken once, and holds no place of either flow afterwards', async () => {
  let flow = 'before';
  const queue = createWorkQueue({ flowOf: () => flow });
  queue.limitFlows(1);
  queue.add('a');
  flow = 'after';
  queue.add('a');
  expect(queue.length).toBe(1);
  expect(await queue.take(signal)).toBe('a');
  queue.done('a');
  expect(queue.length).toBe(0);
  queue.add('b');
  expect(await queue.take(signal)).toBe('b');
});
