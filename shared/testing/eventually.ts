import { setTimeout as delay } from 'node:timers/promises';

/**
 * How long a test waits for an event, in milliseconds. It measures nothing: it is long enough for any machine, and shorter than jest's limit, so that
 * a failed wait ends with its own message.
 */
export const PATIENCE_MS = 3 * 60_000;

const POLL_INTERVAL_MS = 10;

/** A signal for calls that should succeed; it ends those that hang. */
export function patience(): AbortSignal {
  return AbortSignal.timeout(PATIENCE_MS);
}

/** Polls until `holds` returns true; throws with `what` at the limit. For conditions without an event to wait for. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`it did not happen: ${what}`);
    await delay(POLL_INTERVAL_MS);
  }
}
