import { setTimeout as delay } from 'node:timers/promises';

const POLL_INTERVAL_MS = 100;

/** Resolves when `check` returns true; throws with `what` after `deadlineMs`. For what has no event to wait for. */
export async function eventually(
  what: string,
  check: () => Promise<boolean>,
  deadlineMs: number,
): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`Not within ${String(deadlineMs / 1000)} s: ${what}.`);
    await delay(POLL_INTERVAL_MS);
  }
}
