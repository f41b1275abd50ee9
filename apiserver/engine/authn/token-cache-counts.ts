import { DurationHistogram } from '../../../shared/metrics/duration-histogram';

/** The default buckets of Prometheus, in seconds. */
const BOUNDS_SECONDS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Hits and misses of token caches, for metrics. All are counters except `active`, which is a gauge. */
export class TokenCacheCounts {
  /** Verifications and webhook calls in progress. */
  active = 0;
  readonly fetches = { ok: 0, error: 0 };
  readonly durations = {
    hit: new DurationHistogram(BOUNDS_SECONDS),
    miss: new DurationHistogram(BOUNDS_SECONDS),
  } as const;

  hit(): void {
    this.durations.hit.observe(0);
  }

  /** Counts a cache miss. `isGood` returns whether the token was accepted. */
  async miss<T>(fetch: () => Promise<T>, isGood: (learnt: T) => boolean): Promise<T> {
    const beganMs = performance.now();
    this.active += 1;
    let outcome: 'ok' | 'error' = 'error';
    try {
      const learnt = await fetch();
      if (isGood(learnt)) outcome = 'ok';
      return learnt;
    } finally {
      this.active -= 1;
      this.fetches[outcome] += 1;
      this.durations.miss.observe(performance.now() - beganMs);
    }
  }
}
