import type { Registry } from 'prom-client';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { Clock } from '../../../shared/concurrency/clock';
import { monotonicClock } from '../../../shared/concurrency/monotonic-clock';
import type { WorkQueueObserver } from '../../../shared/concurrency/work-queue';

/** The bounds of both histograms, in seconds: ten, from 10 ns to 10 s, as everywhere in the field. */
const BUCKETS_SECONDS = Array.from({ length: 10 }, (_, at) => Number(`1e${String(at - 8)}`));

/**
 * Adds the metrics of work queues, under the names by which client-go tells of its own. Returns what makes the observer of a queue; all
 * queues of one name are told of as one.
 */
export function addQueueMetrics(
  registry: Registry,
  clock: Clock = monotonicClock,
): (name: string) => WorkQueueObserver {
  const labelNames = ['name'] as const;
  const common = { labelNames, registers: [registry] };
  const timed = { ...common, buckets: BUCKETS_SECONDS };
  const counts: Counts = {
    adds: new Counter({ ...common, name: 'workqueue_adds_total', help: 'Keys added to the work queue.' }),
    retries: new Counter({
      ...common,
      name: 'workqueue_retries_total',
      help: 'Retries: keys that were requeued, after a failure or for a later check.',
    }),
    waited: new Histogram({
      ...timed,
      name: 'workqueue_queue_duration_seconds',
      help: 'How long keys wait in the queue before they are processed.',
    }),
    worked: new Histogram({
      ...timed,
      name: 'workqueue_work_duration_seconds',
      help: 'How long processing a key takes.',
    }),
  };
  const queues: MeasuredQueue[] = [];
  const addGauge = (name: string, help: string, read: (queue: MeasuredQueue) => Reading): void => {
    const gauge = new Gauge({
      ...common,
      name,
      help,
      collect: () => {
        gauge.reset();
        for (const [label, value] of readingsOf(queues, read)) gauge.set({ name: label }, value);
      },
    });
  };
  addGauge('workqueue_depth', 'Keys that wait now.', (queue) => ({ sum: queue.depth }));
  addGauge(
    'workqueue_unfinished_work_seconds',
    'How long the work that goes on now takes already, all keys together. A large number tells of work that hangs.',
    (queue) => ({ sum: queue.unfinishedSeconds().reduce((sum, each) => sum + each, 0) }),
  );
  addGauge(
    'workqueue_longest_running_processor_seconds',
    'How long the oldest work that goes on now takes already.',
    (queue) => ({ most: Math.max(0, ...queue.unfinishedSeconds()) }),
  );
  return (name) => {
    const queue = new MeasuredQueue(name, counts, clock);
    queues.push(queue);
    return queue;
  };
}

/** What is told of several queues of one name together: the sum, or the most. */
type Reading = { readonly sum: number } | { readonly most: number };

function readingsOf(
  queues: readonly MeasuredQueue[],
  read: (queue: MeasuredQueue) => Reading,
): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const queue of queues) {
    const before = values.get(queue.name) ?? 0;
    const reading = read(queue);
    values.set(queue.name, 'sum' in reading ? before + reading.sum : Math.max(before, reading.most));
  }
  return values;
}

interface Counts {
  readonly adds: Counter<'name'>;
  readonly retries: Counter<'name'>;
  readonly waited: Histogram<'name'>;
  readonly worked: Histogram<'name'>;
}

/** The times of the keys of one queue, by the clock; as many entries as the queue has keys that wait or are worked on. */
class MeasuredQueue implements WorkQueueObserver {
  readonly name: string;
  readonly #counts: Counts;
  readonly #clock: Clock;
  readonly #addedMs = new Map<string, number>();
  readonly #takenMs = new Map<string, number>();

  constructor(name: string, counts: Counts, clock: Clock) {
    this.name = name;
    this.#counts = counts;
    this.#clock = clock;
    // A queue in which nothing has happened yet is shown as well.
    counts.adds.inc({ name }, 0);
    counts.retries.inc({ name }, 0);
    counts.waited.zero({ name });
    counts.worked.zero({ name });
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
    this.#counts.adds.inc({ name: this.name });
  }

  taken(key: string): void {
    const nowMs = this.#clock.now();
    this.#counts.waited.observe({ name: this.name }, (nowMs - (this.#addedMs.get(key) ?? nowMs)) / 1_000);
    this.#addedMs.delete(key);
    this.#takenMs.set(key, nowMs);
  }

  done(key: string): void {
    const nowMs = this.#clock.now();
    this.#counts.worked.observe({ name: this.name }, (nowMs - (this.#takenMs.get(key) ?? nowMs)) / 1_000);
    this.#takenMs.delete(key);
  }

  delayed(): void {
    this.#counts.retries.inc({ name: this.name });
  }
}
