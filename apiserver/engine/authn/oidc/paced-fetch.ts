import type { Clock } from '../../../../shared/concurrency/clock';
import { pause } from '../../../../shared/concurrency/pause';
import type { Rate } from '../../../../shared/concurrency/token-bucket';
import { TokenBucket } from '../../../../shared/concurrency/token-bucket';

export interface PacedFetch {
  /** Settles with a fetch that begins from now on, as soon as the rate allows; all who wait for it share it. */
  readonly next: () => Promise<void>;
  /** The fetch that has begun and is not over; what it brings may be older than now. */
  readonly underWay: () => Promise<void> | undefined;
}

export interface PacedFetchOptions {
  readonly rate: Rate;
  readonly clock: Clock;
  /** When it aborts, waiting has an end. */
  readonly shutdownSignal: AbortSignal;
}

/** Fetches one at a time, and no more often than the rate allows. */
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
        // Whoever comes from here on may need what is published only now.
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
