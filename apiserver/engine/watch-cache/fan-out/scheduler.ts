import { QueueBudget } from './queue-budget';
import { Run } from './run';

export interface Flushable {
  readonly queuedBytes: number;
  /** Delivers the queue to the reader. Runs at most once per `schedule`. */
  flush(): void;
}

export interface FlushSchedulerOptions {
  /** Frames are held back at most this long, to be flushed together. */
  readonly delayMaxMs: number;
  /** Budget of all queues together; unlimited by default. */
  readonly queues?: QueueBudget;
  /** Milliseconds on a clock that never goes back. */
  readonly monotonicMs?: () => number;
  /** Called for each slice with the wait of its oldest frames and the number of flushed queues. */
  readonly onFlushed?: (waitedMs: number, queues: number) => void;
}

/**
 * The pause after a flush, as a multiple of the time it kept the event loop busy. A factor of 1 would save a third of the CPU per event and
 * double the latency; events that arrive during a flush are batched anyway.
 */
const BUSY_FACTOR = 0.1;
/** Target duration of one slice of a flush. */
const SLICE_TARGET_MS = 5;
const SLICE_MIN = 16;
const SLICE_MAX = 4096;
/** Bytes that a slice hands to connections, which encrypt them: about 2 ms. */
const SLICE_BYTES_MAX = 2 * 1024 * 1024;
/** What a connection encrypts at once of a long queue. */
const WRITTEN_BYTES_MAX = 64 * 1024;

/**
 * Schedules flushes of watcher queues. An idle server flushes in the same turn of the event loop. Under load, flushes are spaced in
 * proportion to the time the last one took, including socket writes, so that frames are batched into fewer writes. A flush to many
 * watchers is divided into slices that yield to the event loop.
 */
export class FlushScheduler {
  readonly #delayMaxMs: number;
  readonly #monotonicMs: () => number;
  readonly #onFlushed: ((waitedMs: number, queues: number) => void) | undefined;
  /** When the oldest due target was scheduled. */
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

  /** The run of an empty queue. Queues that are filled in the same tick share their runs. */
  get emptyRun(): Run {
    return this.#emptyRun;
  }

  get flushes(): number {
    return this.#flushes;
  }

  /** Delay of the last flush, in milliseconds. */
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

  /** Readers write their bytes in microtasks after the slice, so its cost is known in the next turn of the event loop. */
  #flushSlice(
    targets: readonly Flushable[],
    { from, since }: { readonly from: number; readonly since: number },
  ): void {
    const startedAt = this.#monotonicMs();
    const to = sliceEnd(targets, from, this.#sliceSize);
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

/** Returns the end of a slice: at most `size` targets, and at least one. */
function sliceEnd(targets: readonly Flushable[], from: number, size: number): number {
  const to = Math.min(from + size, targets.length);
  let bytes = 0;
  for (let at = from; at < to; at += 1) {
    bytes += Math.min(targets[at]?.queuedBytes ?? 0, WRITTEN_BYTES_MAX);
    if (bytes > SLICE_BYTES_MAX) return at + 1;
  }
  return to;
}

/** The delay until the next flush in whole milliseconds; 0 if the pause since the last one is long enough. */
export function nextDelayMs(load: {
  readonly busyMs: number;
  readonly sinceLastMs: number;
  readonly delayMaxMs: number;
}): number {
  const wanted = load.busyMs * (1 + BUSY_FACTOR) - load.sinceLastMs;
  return wanted < 1 ? 0 : Math.min(Math.round(wanted), load.delayMaxMs);
}

/** Adapts the slice size to the target duration. A slice that ended early is no reason to grow. */
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
