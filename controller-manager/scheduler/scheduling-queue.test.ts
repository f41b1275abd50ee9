import { SchedulingQueue } from './scheduling-queue';

let nowMs: number;
let queue: SchedulingQueue;
const signal = new AbortController().signal;
const NODE: ReadonlySet<string> = new Set(['node']);

beforeEach(() => {
  jest.useFakeTimers();
  nowMs = 0;
  queue = new SchedulingQueue({ podsMax: 4, clock: { now: () => nowMs } });
});
afterEach(() => {
  queue.close();
  jest.useRealTimers();
});

function passMs(ms: number): void {
  nowMs += ms;
  jest.advanceTimersByTime(ms);
}

/** Takes all active pods and puts them aside. */
async function drain(): Promise<readonly string[]> {
  const taken: string[] = [];
  while (queue.counts().active > 0) taken.push(await queue.take(signal));
  for (const key of taken) queue.putAside(key, NODE);
  return taken;
}

test('pods come by priority, and in their order within a priority', async () => {
  queue.add('first', 0);
  queue.add('second', 0);
  queue.add('urgent', 5);
  expect(await drain()).toEqual(['urgent', 'first', 'second']);
});

test('a pod beyond the bound is refused until another one leaves', () => {
  for (const key of ['a', 'b', 'c', 'd']) expect(queue.add(key, 0)).toBe(true);
  expect(queue.add('e', 0)).toBe(false);
  queue.delete('a');
  expect(queue.add('e', 0)).toBe(true);
});

test('a pod that fits nowhere waits for a change that may help it, and for its backoff, which doubles', async () => {
  queue.add('pod', 0);
  await drain();
  passMs(60_000);
  queue.noteChange('volume');
  expect(queue.counts()).toEqual({ active: 0, backoff: 0, unschedulable: 1 });
  queue.noteChange('node');
  expect(await drain()).toEqual(['pod']);
  queue.noteChange('node');
  passMs(1_999);
  expect(queue.counts()).toEqual({ active: 0, backoff: 1, unschedulable: 0 });
  passMs(1);
  expect(await drain()).toEqual(['pod']);
});

test('a change during an attempt is not lost', async () => {
  queue.add('pod', 0);
  const key = await queue.take(signal);
  queue.noteChange('node');
  queue.putAside(key, NODE);
  expect(queue.counts().backoff).toBe(1);
  passMs(1_000);
  expect(queue.counts().active).toBe(1);
});

test('a changed pod is tried again at once, also one that changes during its attempt', async () => {
  queue.add('pod', 0);
  await drain();
  queue.add('pod', 0);
  const key = await queue.take(signal);
  queue.add('pod', 0);
  queue.putAside(key, new Set());
  expect(queue.counts().backoff).toBe(1);
});

test('a failed attempt is repeated after the backoff, at most ten seconds later', async () => {
  queue.add('pod', 0);
  for (const backoffMs of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
    queue.retry(await queue.take(signal));
    passMs(backoffMs - 1);
    expect(queue.counts().active).toBe(0);
    passMs(1);
    expect(queue.counts().active).toBe(1);
  }
});

test('a pod that no event helps is tried again after five minutes', async () => {
  queue.add('pod', 0);
  await drain();
  passMs(299_999);
  queue.releaseStale();
  expect(queue.counts().unschedulable).toBe(1);
  passMs(1);
  queue.releaseStale();
  expect(queue.counts().active).toBe(1);
});

test('a taker waits for the next pod, and ends with its signal', async () => {
  const stop = new AbortController();
  const next = queue.take(stop.signal);
  queue.add('pod', 0);
  expect(await next).toBe('pod');
  const never = queue.take(stop.signal);
  stop.abort(new Error('stop'));
  await expect(never).rejects.toThrow('stop');
});
