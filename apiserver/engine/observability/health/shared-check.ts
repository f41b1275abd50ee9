import { withTimeLimit } from '../../../../shared/concurrency/time-limit';
import type { Clock } from '../../../../shared/concurrency/clock';
import type { HealthCheck } from './health-check';

/** How long the outcome of a run is given to further callers: far shorter than the period of any probe. */
const SHARED_MS = 100;
/** A run that takes longer ends as failed. Callers wait no longer than that either. */
const RUN_MS_MAX = 5_000;

/**
 * The same check, whose callers share one run while it is under way and for a moment after its end: they come without credentials and as often
 * as they like, and each run asks the store. No caller can abort what others wait for.
 */
export function sharedCheck(check: HealthCheck, clock: Clock): HealthCheck {
  let run: Promise<string | undefined> | undefined;
  let endedAt: number | undefined;
  const never = new AbortController().signal;
  return {
    ...check,
    check: async () => {
      const isOver = endedAt !== undefined && Math.abs(clock.now() - endedAt) >= SHARED_MS;
      if (run === undefined || isOver) {
        endedAt = undefined;
        run = withTimeLimit(never, RUN_MS_MAX, check.check).finally(() => {
          endedAt = clock.now();
        });
      }
      return run;
    },
  };
}
