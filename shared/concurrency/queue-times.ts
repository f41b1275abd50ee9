import { exponentialBounds } from '../metrics/buckets';
import { DurationHistogram } from '../metrics/duration-histogram';
import type { MetricSet } from '../metrics/metric-set';
import type { Clock } from './clock';
import { monotonicClock } from './monotonic-clock';
import type { WorkQueueObserver } from './work-queue';

/** The bounds of both histograms, in seconds: ten, from 10 ns to 10 s, as everywhere in the field. */
const BOUNDS_SECONDS = exponentialBounds(1e-8, 10, 10);
const LABELS = ['name'] as const;

/** The counts of work queues by name; queues of one name are reported as one. */
export class QueueTimes {
  readonly #clock: Clock;
  readonly #queues = new Map<string, QueueCounts>();

  constructor(clock: Clock = monotonicClock) {
    this.#clock = clock;
  }

  /** The observer of one queue. */
  observerOf(name: string): WorkQueueObserver {
    const counts = this.#queues.get(name) ?? newCounts(name);
    this.#queues.set(name, counts);
    const queue = new MeasuredQueue(counts, this.#clock);
    counts.queues.push(queue);
    return queue;
  }

  counts(): Iterable<QueueCounts> {
    return this.#queues.values();
  }
}

/** Shows what was counted, under the names by which client-go tells of its own queues. */
export function addQueueMetrics(metrics: MetricSet, times: QueueTimes): void {
  addTotals(metrics, times);
  addGauges(metrics, times);
}

/** The counts of all queues of one name. */
interface QueueCounts {
  readonly labels: { readonly name: string };
  readonly queues: MeasuredQueue[];
  readonly waited: DurationHistogram;
  readonly worked: DurationHistogram;
  adds: number;
  retries: number;
}

function newCounts(name: string): QueueCounts {
  return {
    labels: { name },
    queues: [],
    waited: new DurationHistogram(BOUNDS_SECONDS),
    worked: new DurationHistogram(BOUNDS_SECONDS),
    adds: 0,
    retries: 0,
  };
}

function addTotals(metrics: MetricSet, times: QueueTimes): void {
  metrics.counter({
    name: 'workqueue_adds_total',
    help: 'Keys added to the work queue.',
    labels: LABELS,
    *read() {
      for (const { labels, adds } of times.counts()) yield [labels, adds];
    },
  });
  metrics.counter({
    name: 'workqueue_retries_total',
    help: 'Retries: keys that were requeued, after a failure or for a later check.',
    labels: LABELS,
    *read() {
      for (const { labels, retries } of times.counts()) yield [labels, retries];
    },
  });
  metrics.histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long keys wait in the queue before they are processed.',
    labels: LABELS,
    *read() {
      for (const { labels, waited } of times.counts()) yield [labels, waited];
    },
  });
  metrics.histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long processing a key takes.',
    labels: LABELS,
    *read() {
      for (const { labels, worked } of times.counts()) yield [labels, worked];
    },
  });
}

function addGauges(metrics: MetricSet, times: QueueTimes): void {
  const add = (name: string, help: string, valueOf: (all: readonly MeasuredQueue[]) => number): void => {
    metrics.gauge({
      name,
      help,
      labels: LABELS,
      *read() {
        for (const { labels, queues: all } of times.counts()) yield [labels, valueOf(all)];
      },
    });
  };
  add('workqueue_depth', 'Keys that wait now.', (all) => sum(all.map(({ depth }) => depth)));
  add(
    'workqueue_unfinished_work_seconds',
    'How long the work in progress has taken so far, all keys together. A large number means that work hangs.',
    (all) => sum(all.flatMap((queue) => queue.unfinishedSeconds())),
  );
  add(
    'workqueue_longest_running_processor_seconds',
    'How long the oldest work in progress has taken so far.',
    (all) => Math.max(0, ...all.flatMap((queue) => queue.unfinishedSeconds())),
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, each) => total + each, 0);
}

/** The times of the keys of one queue, by the clock; as many entries as the queue has keys that wait or are worked on. */
class MeasuredQueue implements WorkQueueObserver {
  readonly #counts: QueueCounts;
  readonly #clock: Clock;
  readonly #addedMs = new Map<string, number>();
  readonly #takenMs = new Map<string, number>();

  constructor(counts: QueueCounts, clock: Clock) {
    this.#counts = counts;
    this.#clock = clock;
  }

  get depth(): number {
    return this.#addedMs.size;
  }

  unfinishedSeconds(): readonly number[] {
    const nowMs = this.#clock.now();
    return [...this.#takenMs.values()].map((takenMs) => (nowMs - takenMs) / 1_000);
  }

  added(key: string): void {
    if (this.#addedMs.has(key)) return;
    this.#addedMs.set(key, this.#clock.now());
    this.#counts.adds += 1;
  }

  taken(key: string): void {
    const nowMs = this.#clock.now();
    this.#counts.waited.observe(nowMs - (this.#addedMs.get(key) ?? nowMs));
    this.#addedMs.delete(key);
    this.#takenMs.set(key, nowMs);
  }

  done(key: string): void {
    const nowMs = this.#clock.now();
    this.#counts.worked.observe(nowMs - (this.#takenMs.get(key) ?? nowMs));
    this.#takenMs.delete(key);
  }

  delayed(): void {
    this.#counts.retries += 1;
  }
}
