import { setTimeout as delay } from 'node:timers/promises';

/**
 * How long a test waits for what is to happen, in milliseconds. It is not a measure of anything: it is so long that no machine is too slow
 * for it, and shorter than jest's limit, so that a wait in vain ends with its own words.
 */
export const PATIENCE_MS = 3 * 60_000;

const POLL_INTERVAL_MS = 10;

/** A signal for calls that are to succeed: it ends those that hang. */
export function patience(): AbortSignal {
  return AbortSignal.timeout(PATIENCE_MS);
}

/** Resolves when `holds` returns true; throws with `what` when it never does. For what has no event to wait for. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`it did not happen: ${what}`);
    await delay(POLL_INTERVAL_MS);
  }
}
