import { sleep } from '../../../shared/concurrency/abort';
import type { Clock } from '../../../shared/concurrency/clock';
import { StatusError } from '../../../shared/errors/status-error';
import type { Log } from '../../../shared/log/log';
import { StorageError } from './backend';

const OUTAGE_MS_MAX = 60_000;
const RETRY_MS = 1_000;

/**
 * Retries a step of the start while the store is unavailable, for a minute at most: a server and its store may be started
 * together, and a store without a leader chooses one within seconds. The step must be idempotent, because it is also repeated
 * after writes with unknown outcome. Rethrows every other error.
 */
export async function retryUntilAvailable<T>(
  step: () => Promise<T>,
  { log, clock }: { readonly log: Log; readonly clock: Clock },
  signal: AbortSignal,
): Promise<T> {
  const giveUpAt = clock.now() + OUTAGE_MS_MAX;
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof Error) || !isOutage(error) || clock.now() >= giveUpAt) throw error;
      log.warn({ error: error.message }, 'store unavailable; retrying');
      await sleep(RETRY_MS, signal);
    }
  }
}

function isOutage(error: Error): boolean {
  if (error instanceof StorageError) return error.code === 'unavailable' || error.code === 'unknown-outcome';
  return error instanceof StatusError && (error.status.code === 503 || error.status.code === 504);
}
