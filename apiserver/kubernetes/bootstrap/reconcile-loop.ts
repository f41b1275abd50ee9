import { pause } from '../../../shared/concurrency/pause';
import { withTimeLimit } from '../../../shared/concurrency/time-limit';
import type { Log } from '../../../shared/log/log';

/** Interval between reconcile rounds, in milliseconds. */
export const ROUND_MS = 10_000;
const ROUND_TIMEOUT_MS = 10_000;

export interface ReconcileLoopOptions {
  /** Runs one round. It writes nothing if the state is correct. */
  readonly reconcile: (signal: AbortSignal) => Promise<void>;
  /** Resolves when the next round is due, or once the signal aborts; by default after {@link ROUND_MS}. */
  readonly untilNext?: (signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  /** The log message of a failed round. */
  readonly failure: string;
}

/** Runs rounds until the signal aborts. A failed round is logged and the next one retries. */
export async function reconcileLoop(
  { reconcile, untilNext = async (signal) => pause(ROUND_MS, signal), log, failure }: ReconcileLoopOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await withTimeLimit(signal, ROUND_TIMEOUT_MS, reconcile).catch((error: unknown) => {
      if (!signal.aborted) log.warn({ error: String(error) }, failure);
    });
    await untilNext(signal);
  }
}
