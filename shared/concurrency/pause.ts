import { sleep } from './abort';

/** Waits `ms`, or less if the signal aborts; for loops that look at the signal themselves. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
