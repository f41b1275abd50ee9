import { USER_GROUP } from '../../../shared/names';
import type { Stage } from '../request/exchange';
import type { DroppedRequests } from '../request/overload';
import { retryAfterSeconds } from '../request/retry-after';
import { isLongRunning } from '../request/long-running';
import { requestKind, tooManyRequests } from './stage';

export interface InFlightParts {
  /** The maximum of concurrent requests; 0: unlimited. */
  readonly max: Readonly<Record<keyof DroppedRequests, number>>;
  readonly dropped: DroppedRequests;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

/**
 * Creates the max-in-flight stage, which refuses requests with 429 while too many are in flight (load shedding). Superusers and long-running
 * requests are exempt. It replaces priority and fairness when that is off.
 */
export function createInFlightStage({ max, dropped, random }: InFlightParts): Stage {
  const inFlight = { mutating: 0, readOnly: 0 };
  return async (exchange, next) => {
    const kind = requestKind(exchange.info);
    if (max[kind] === 0 || isLongRunning(exchange.info)) {
      await next();
      return;
    }
    if (inFlight[kind] >= max[kind]) {
      if (!exchange.user.groups.includes(USER_GROUP.masters)) {
        dropped[kind] += 1;
        throw tooManyRequests(retryAfterSeconds(1, random));
      }
      await next();
      return;
    }
    inFlight[kind] += 1;
    try {
      await next();
    } finally {
      inFlight[kind] -= 1;
    }
  };
}
