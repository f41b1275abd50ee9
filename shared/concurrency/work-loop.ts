import { setMaxListeners } from 'node:events';
import type { Log } from '../log/log';
import type { WorkQueue } from './work-queue';

/** A failure that every further try would repeat: the key is not tried again until it is added. */
export class TerminalError extends RangeError {
  constructor(message: string) {
    super(message);
    this.name = 'TerminalError';
  }
}

/** Says when the key is to be looked at again, though nothing failed. */
export interface Requeue {
  readonly requeueAfterMs: number;
}

export interface WorkLoopOptions {
  readonly queue: WorkQueue;
  /** Number of keys processed concurrently. */
  readonly workers: number;
  /** Brings the world in line for one key. What it throws is logged, and the key is tried again with backoff. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<Requeue | undefined>;
  readonly log: Log;
  /** Minimum delay of a key after an error, in milliseconds; undefined: its backoff alone. */
  readonly retryAfterMs?: (error: unknown) => number | undefined;
}

/** From this try on a failing key is worth a warning; before that it is usually a race that settles. */
const QUIET_RETRIES = 3;

/** Works until the signal aborts; resolves when the last reconcile has ended. */
export async function runWorkers(options: WorkLoopOptions, signal: AbortSignal): Promise<void> {
  // One namespace must not occupy all workers with slow keys.
  options.queue.limitFlows(Math.ceil(options.workers / 2));
  // Every worker waits on it, and so do the calls of each.
  setMaxListeners(0, signal);
  await Promise.all(Array.from({ length: options.workers }, async () => work(options, signal)));
  options.queue.shutDown();
}

async function work(options: WorkLoopOptions, signal: AbortSignal): Promise<void> {
  for (;;) {
    const key = await options.queue.take(signal).catch(() => undefined);
    if (key === undefined) return;
    try {
      await step(options, key, signal);
    } finally {
      options.queue.done(key);
    }
  }
}

async function step(
  { queue, reconcile, log, retryAfterMs }: WorkLoopOptions,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    const again = await reconcile(key, signal);
    queue.forget(key);
    if (again !== undefined) queue.addAfter(key, again.requeueAfterMs);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof TerminalError) {
      queue.forget(key);
      log.warn({ key, error: error.message }, 'reconcile failed for good; it is not retried');
      return;
    }
    const retries = queue.retries(key);
    const fields = { key, retries, error: error instanceof Error ? error.message : String(error) };
    if (retries < QUIET_RETRIES) log.debug(fields, 'reconcile failed; retrying');
    else log.warn(fields, 'reconcile keeps failing; retrying');
    queue.addRateLimited(key, retryAfterMs?.(error));
  }
}
