import type { Bucketed } from './buckets';

/** The counts of a histogram: events per bucket, and their total milliseconds. */
export interface TakenDurations {
  readonly counts: readonly number[];
  readonly sumMs: number;
}

/** A duration histogram with bounds in seconds, cheap enough for every request and event. */
export class DurationHistogram implements Bucketed {
  readonly bounds: readonly number[];
  readonly counts: Float64Array;
  #sumMs = 0;

  constructor(boundsSeconds: readonly number[]) {
    this.bounds = boundsSeconds;
    this.counts = new Float64Array(boundsSeconds.length + 1);
  }

  /** Counts `times` events that took `ms` milliseconds each. */
  observe(ms: number, times = 1): void {
    const seconds = ms / MS_PER_SECOND;
    const { bounds } = this;
    let at = 0;
    while (at < bounds.length && seconds > (bounds[at] ?? 0)) at += 1;
    this.counts[at] = (this.counts[at] ?? 0) + times;
    this.#sumMs += ms * times;
  }

  /** Returns and resets the counts since the last call; undefined if there are none. */
  take(): TakenDurations | undefined {
    if (this.counts.every((each) => each === 0)) return undefined;
    const taken = { counts: [...this.counts], sumMs: this.#sumMs };
    this.counts.fill(0);
    this.#sumMs = 0;
    return taken;
  }

  /** Adds counts of a histogram with the same bounds. */
  add({ counts, sumMs }: TakenDurations): void {
    for (const [at, times] of counts.entries()) this.counts[at] = (this.counts[at] ?? 0) + times;
    this.#sumMs += sumMs;
  }

  /** Seconds. */
  get sum(): number {
    return this.#sumMs / MS_PER_SECOND;
  }

  get count(): number {
    return this.counts.reduce((sum, each) => sum + each, 0);
  }
}

const MS_PER_SECOND = 1_000;

/** From half a millisecond, which an idle server needs, to what clients treat as a failure. */
const DELAY_BOUNDS_SECONDS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 3, 10,
];

/**
 * The way of a change, by stage. `toCache`: how long a reader that knew the store's newest revision had to wait for the cache.
 * `inCache`: from its arrival to being applied. `toListener`: from being queued for watchers to being handed to the listener, once per watcher.
 */
export interface Delays {
  readonly toCache: DurationHistogram;
  readonly inCache: DurationHistogram;
  readonly toListener: DurationHistogram;
}

export function createDelays(): Delays {
  return {
    toCache: new DurationHistogram(DELAY_BOUNDS_SECONDS),
    inCache: new DurationHistogram(DELAY_BOUNDS_SECONDS),
    toListener: new DurationHistogram(DELAY_BOUNDS_SECONDS),
  };
}
