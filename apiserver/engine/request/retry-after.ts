const SECONDS_MAX = 30;

/**
 * When to come again, in whole seconds: after the wait that is to be expected, and up to once more of it, so that those who are refused
 * together do not come back together. `random` gives numbers from 0 to 1, without 1.
 */
export function retryAfterSeconds(expectedWaitSeconds: number, random: () => number): number {
  const waitSeconds = Math.max(1, expectedWaitSeconds);
  return Math.min(SECONDS_MAX, Math.ceil(waitSeconds * (1 + random())));
}
