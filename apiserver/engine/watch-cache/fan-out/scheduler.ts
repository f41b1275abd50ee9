import { QueueBudget } from './queue-budget';
import { Run } from './run';

export interface Flushable {
  /** Hands what is queued to the reader. Runs at most once per `schedule`. */
  flush(): void;
}

export interface FlushSchedulerOptions {
  /** Frames wait at most this long to leave together. */
  readonly delayMaxMs: number;
  /** Of all queues together; by default they may keep anything. */
  readonly queues?: QueueBudget;
  /** Milliseconds on a clock that never goes back. */
  readonly monotonicMs?: () => number;
  /** Told of each slice: how long its oldest frames have waited, and how many queues were handed over. */
  readonly onFlushed?: (waitedMs: number, queues: number) => void;
}

/**
 * A flush that kept the loop busy for b ms is followed by the next no earlier than this many b later. What comes during a flush gathers
 * anyway: resting as long as one took costs a third of the processor time less per event, and doubles how late events are.
 */
const BUSY_FACTOR = 0.1;
/** The longest the loop is meant to be busy with one slice of a flush. */
const SLICE_TARGET_MS = 5;
const SLICE_MIN = 16;
const SLICE_MAX = 4096;

/**
 * Decides when queued frames leave. An idle server flushes in the same turn of the event loop. Under load flushes keep a distance
 * in proportion to the time the last one kept the loop busy (writing to the sockets included), so that frames gather and leave in
 * fewer writes. A flush to many watchers is cut into slices, between which everything else has its turn.
 */
export class FlushScheduler {
  readonly #delayMaxMs: number;
  readonly #monotonicMs: () => number;
  readonly #onFlushed: ((waitedMs: number, queues: number) => void) | undefined;
  /** When the first of those that are due was scheduled. */
  #dueSince = 0;
  #due = new Set<Flushable>();
  readonly queues: QueueBudget;
  #emptyRun: Run;
  #isArmed = false;
  #lastFlushAt = -Infinity;
  #lastBusyMs = 0;
  #sliceSize = 256;
  #flushes = 0;
  #lastDelayMs = 0;

  constructor(options: FlushSchedulerOptions) {
    this.queues = options.queues ?? new QueueBudget();
    this.#emptyRun = Run.createEmpty(this.queues);
    this.#delayMaxMs = options.delayMaxMs;
    this.#monotonicMs = options.monotonicMs ?? ((): number => performance.now());
    this.#onFlushed = options.onFlushed;
  }

  /** Where a queue starts that holds nothing: the queues of one tick share what they have in common. */
  get emptyRun(): Run {
    return this.#emptyRun;
  }

  get flushes(): number {
    return this.#flushes;
  }

  /** How long the last flush was held back, in milliseconds. */
  get lastDelayMs(): number {
    return this.#lastDelayMs;
  }

  schedule(target: Flushable): void {
    if (this.#due.size === 0) this.#dueSince = this.#monotonicMs();
    this.#due.add(target);
    if (!this.#isArmed) this.#arm();
  }

  #arm(): void {
    this.#isArmed = true;
    const sinceLastMs = this.#monotonicMs() - this.#lastFlushAt;
    const delayMs = nextDelayMs({ busyMs: this.#lastBusyMs, sinceLastMs, delayMaxMs: this.#delayMaxMs });
    this.#lastDelayMs = delayMs;
    if (delayMs === 0) setImmediate(this.#flush);
    else setTimeout(this.#flush, delayMs);
  }

  readonly #flush = (): void => {
    const targets = [...this.#due];
    const since = this.#dueSince;
    this.#due = new Set();
    this.#emptyRun = Run.createEmpty(this.queues);
    this.#flushes += 1;
    this.#lastFlushAt = this.#monotonicMs();
    this.#lastBusyMs = 0;
    this.#flushSlice(targets, { from: 0, since });
  };

  /** What readers do with their bytes runs right behind the slice, so the slice's cost is known when the loop turns. */
  #flushSlice(
    targets: readonly Flushable[],
    { from, since }: { readonly from: number; readonly since: number },
  ): void {
    const startedAt = this.#monotonicMs();
    const to = Math.min(from + this.#sliceSize, targets.length);
    for (let at = from; at < to; at += 1) targets[at]?.flush();
    this.#onFlushed?.(this.#monotonicMs() - since, to - from);
    setImmediate(() => {
      const busyMs = this.#monotonicMs() - startedAt;
      this.#lastBusyMs += busyMs;
      this.#sliceSize = nextSliceSize({ size: to - from, busyMs, before: this.#sliceSize });
      if (to < targets.length) {
        this.#flushSlice(targets, { from: to, since });
        return;
      }
      this.#isArmed = false;
      if (this.#due.size > 0) this.#arm();
    });
  }
}

/** 0 when the loop has rested long enough since the last flush, else the rest of the distance, whole milliseconds. */
export function nextDelayMs(load: {
  readonly busyMs: number;
  readonly sinceLastMs: number;
  readonly delayMaxMs: number;
}): number {
  const wanted = load.busyMs * (1 + BUSY_FACTOR) - load.sinceLastMs;
  return wanted < 1 ? 0 : Math.min(Math.round(wanted), load.delayMaxMs);
}

/** Aims at slices of the target time; a slice that was cut short by the end of the list says nothing about larger ones. */
export function nextSliceSize(slice: {
  readonly size: number;
  readonly busyMs: number;
  readonly before: number;
}): number {
  if (slice.busyMs > SLICE_TARGET_MS * 2) {
    return Math.max(SLICE_MIN, Math.floor((slice.size * SLICE_TARGET_MS) / slice.busyMs));
  }
  const isFull = slice.size >= slice.before;
  return isFull && slice.busyMs < SLICE_TARGET_MS / 2 ? Math.min(SLICE_MAX, slice.before * 2) : slice.before;
}
