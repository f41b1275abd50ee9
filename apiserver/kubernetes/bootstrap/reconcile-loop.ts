import { pause } from '../../../shared/concurrency/pause';
import { withTimeLimit } from '../../../shared/concurrency/time-limit';
import type { Log } from '../../../shared/log/log';

/** How often a replica looks whether what it keeps in the store is in order, in milliseconds. */
export const ROUND_MS = 10_000;
const ROUND_TIMEOUT_MS = 10_000;

export interface ReconcileLoopOptions {
  /** One round. It writes nothing when it finds all in order. */
  readonly reconcile: (signal: AbortSignal) => Promise<void>;
  /** Resolves when the next round is due, or once the signal aborts; by default after {@link ROUND_MS}. */
  readonly untilNext?: (signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  /** What the log says of a round that failed. */
  readonly failure: string;
}

/** Round after round, until the signal aborts. One that fails is logged, and the next one may go better. */
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
