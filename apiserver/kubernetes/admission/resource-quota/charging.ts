import { untilAborted } from '../../../../shared/concurrency/abort';
import { linkedAbort } from '../../../../shared/concurrency/linked-abort';
import { StatusError, internalError } from '../../../../shared/errors/status-error';
import type { BatchParts, ChargedWrite, Refusal, Waiter } from './charge-batch';
import { chargeBatch } from './charge-batch';

/** Number of writes that may wait in one namespace, and of those evaluated at once. */
const WAITING_MAX = 5_000;
const BATCH_MAX = 500;
/** How long a write waits for its charge, in milliseconds. */
const CHARGE_TIMEOUT_MS = 10_000;
const RETRY_AFTER_SECONDS = 1;

/**
 * Evaluates the writes of each namespace and charges their quotas. Writes that arrive during a batch form the next one, so the number of
 * quota writes is bounded.
 */
export class Charging {
  readonly #parts: BatchParts;
  readonly #timeoutMs: number;
  /** Waiting writes by namespace. A namespace in progress has an entry. */
  readonly #waiting = new Map<string, Waiter[]>();

  constructor(parts: BatchParts, timeoutMs: number = CHARGE_TIMEOUT_MS) {
    this.#parts = parts;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Resolves with a refusal by the quotas known here, or with undefined once the charge is stored. Throws TooManyRequests (429),
   * InternalError (500) after ten seconds, and errors of {@link chargeBatch}.
   */
  async charge(namespace: string, write: ChargedWrite, signal: AbortSignal): Promise<Refusal> {
    const inTime = linkedAbort(signal);
    const timer = setTimeout(() => {
      inTime.abort(internalError('resource quota evaluation timed out'));
    }, this.#timeoutMs).unref();
    const refusal = new Promise<Refusal>((settle, fail) => {
      this.#enqueue(namespace, { write, signal: inTime.signal, settle, fail });
    });
    try {
      return await untilAborted(refusal, inTime.signal);
    } finally {
      clearTimeout(timer);
      inTime.unlink();
    }
  }

  #enqueue(namespace: string, waiter: Waiter): void {
    const waiting = this.#waiting.get(namespace);
    if (waiting === undefined) {
      this.#waiting.set(namespace, [waiter]);
      void this.#work(namespace);
    } else if (waiting.length < WAITING_MAX) {
      waiting.push(waiter);
    } else {
      const why = `too many writes wait for the quotas of namespace ${namespace}`;
      throw new StatusError('TooManyRequests', why, { details: { retryAfterSeconds: RETRY_AFTER_SECONDS } });
    }
  }

  /** Processes batches until no write waits. */
  async #work(namespace: string): Promise<void> {
    for (;;) {
      const batch = this.#waiting.get(namespace)?.splice(0, BATCH_MAX) ?? [];
      if (batch.length === 0) break;
      try {
        await chargeBatch(this.#parts, { namespace, batch }, AbortSignal.timeout(this.#timeoutMs));
      } catch (error) {
        for (const { fail } of batch) fail(error);
      }
    }
    this.#waiting.delete(namespace);
  }
}
