import type { Clock } from '../../../../shared/concurrency/clock';
import { pause } from '../../../../shared/concurrency/pause';
import type { Rate } from '../../../../shared/concurrency/token-bucket';
import { TokenBucket } from '../../../../shared/concurrency/token-bucket';

export interface PacedFetch {
  /** Waits for a fetch that begins after this call, as soon as the rate limit allows. Concurrent callers share it (single-flight). */
  readonly next: () => Promise<void>;
  /** The fetch in progress, whose result may be older than this call; undefined if there is none. */
  readonly underWay: () => Promise<void> | undefined;
}

export interface PacedFetchOptions {
  readonly rate: Rate;
  readonly clock: Clock;
  /** Aborts the waiting for the rate limit. */
  readonly shutdownSignal: AbortSignal;
}

/** Serializes fetches and limits their rate. */
export function pacedFetch(
  fetch: () => Promise<void>,
  { rate, clock, shutdownSignal }: PacedFetchOptions,
): PacedFetch {
  const bucket = new TokenBucket(rate, clock);
  let upcoming: Promise<void> | undefined;
  let underWay: Promise<void> | undefined;
  const allowed = async (): Promise<void> => {
    await underWay;
    for (let waitMs = bucket.take(); waitMs > 0 && !shutdownSignal.aborted; waitMs = bucket.take()) {
      await pause(waitMs, shutdownSignal);
    }
  };
  return {
    next: async () => {
      upcoming ??= allowed().then(async () => {
        // Later callers may need a state that is published after this fetch began.
        upcoming = undefined;
        underWay = fetch().finally(() => {
          underWay = undefined;
        });
        await underWay;
      });
      await upcoming;
    },
    underWay: () => underWay,
  };
}
