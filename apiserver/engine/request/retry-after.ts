const SECONDS_MAX = 30;

/**
 * Computes Retry-After in whole seconds: the expected wait plus a jitter of up to the same time, against a thundering
 * herd of refused clients. `random` returns numbers from 0 to below 1.
 */
export function retryAfterSeconds(expectedWaitSeconds: number, random: () => number): number {
  const waitSeconds = Math.max(1, expectedWaitSeconds);
  return Math.min(SECONDS_MAX, Math.ceil(waitSeconds * (1 + random())));
}
