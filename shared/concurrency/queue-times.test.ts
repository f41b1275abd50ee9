import type { WorkQueue } from './work-queue';
import { createWorkQueue } from './work-queue';
import { MetricSet } from '../metrics/metric-set';
import { addQueueMetrics, QueueTimes } from './queue-times';

const { signal } = new AbortController();
let nowMs = 0;
let metrics: MetricSet;
let newQueue: (name: string) => WorkQueue;

beforeEach(() => {
  nowMs = 1_000;
  metrics = new MetricSet();
  const times = new QueueTimes({ now: () => nowMs });
  addQueueMetrics(metrics, times);
  newQueue = (name) => createWorkQueue({ observer: times.observerOf(name) });
});

/** The value of one line of `/metrics`. */
async function valueOf(sample: string): Promise<number | undefined> {
  const line = String(await metrics.exposition())
    .split('\n')
    .find((each) => each.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length + 1));
}

const metric = async (name: string, queue = 'a'): Promise<number | undefined> =>
  valueOf(`workqueue_${name}{name="${queue}"}`);

test('a queue shows what was added and what waits, each key once', async () => {
  const queue = newQueue('a');
  for (const key of ['x', 'y', 'x']) queue.add(key);
  expect(await metric('adds_total')).toBe(2);
  expect(await metric('depth')).toBe(2);
  await queue.take(signal);
  expect(await metric('depth')).toBe(1);
});

test('a key that is added while it is worked on waits for its next turn', async () => {
  const queue = newQueue('a');
  queue.add('x');
  await queue.take(signal);
  queue.add('x');
  expect(await metric('depth')).toBe(1);
  nowMs += 2_000;
  queue.done('x');
  expect(await metric('adds_total')).toBe(2);
  expect(await metric('depth')).toBe(1);
  await queue.take(signal);
  expect(await metric('queue_duration_seconds_sum')).toBe(2);
});

test('it shows how long keys wait and how long work on them takes', async () => {
  const queue = newQueue('a');
  queue.add('x');
  nowMs += 500;
  await queue.take(signal);
  nowMs += 3_000;
  queue.done('x');
  expect(await metric('queue_duration_seconds_sum')).toBe(0.5);
  expect(await metric('work_duration_seconds_sum')).toBe(3);
  expect(await valueOf('workqueue_work_duration_seconds_bucket{name="a",le="1"}')).toBe(0);
  expect(await valueOf('workqueue_work_duration_seconds_bucket{name="a",le="10"}')).toBe(1);
});

test('a waiting taker gets a key that has waited for no time', async () => {
  const queue = newQueue('a');
  const taken = queue.take(signal);
  queue.add('x');
  expect(await taken).toBe('x');
  expect(await metric('depth')).toBe(0);
  expect(await metric('queue_duration_seconds_count')).toBe(1);
});

test('unfinished work is shown', async () => {
  const queue = newQueue('a');
  queue.add('x');
  queue.add('y');
  await queue.take(signal);
  nowMs += 1_000;
  await queue.take(signal);
  nowMs += 1_000;
  expect(await metric('unfinished_work_seconds')).toBe(3);
  expect(await metric('longest_running_processor_seconds')).toBe(2);
  queue.done('x');
  expect(await metric('longest_running_processor_seconds')).toBe(1);
});

test('every key that is put back for later counts as a retry', async () => {
  const queue = newQueue('a');
  queue.addRateLimited('x');
  queue.addAfter('y', 60_000);
  expect(await metric('retries_total')).toBe(2);
  expect(await metric('adds_total')).toBe(0);
  queue.shutDown();
});

test('queues of one name are reported together, others separately, and a new one at once', async () => {
  const [first, second] = [newQueue('a'), newQueue('a')];
  newQueue('b');
  first.add('x');
  second.add('x');
  expect(await metric('depth')).toBe(2);
  expect(await metric('adds_total')).toBe(2);
  expect(await metric('adds_total', 'b')).toBe(0);
  expect(await metric('work_duration_seconds_count', 'b')).toBe(0);
});
