import { untilAborted } from '../../../../shared/concurrency/abort';
import { LightSignal } from '../../../../shared/concurrency/light-signal';
import { StorageError } from '../../storage/backend';
import type { Counters } from '../stats';

export interface ReadIndexOptions {
  /** One linearizable read of the store's newest revision. */
  readonly read: (signal: AbortSignal) => Promise<number>;
  readonly timeoutMs: number;
  readonly counters: Pick<Counters, 'readIndexCalls' | 'readIndexRequests'>;
}

/**
 * A batched read index (quorum read): returns a revision at or above every write acknowledged before the call. Callers that arrive while a read is in
 * flight share the next read (single-flight). They must not share the one in flight, which may have been answered before they arrived.
 */
export class ReadIndex {
  readonly #options: ReadIndexOptions;
  #waiting: Batch | undefined;
  #isReading = false;

  constructor(options: ReadIndexOptions) {
    this.#options = options;
  }

  /**
   * Rejects with the store's error, with the signal's reason, or with StorageError `unavailable` once the first caller of the batch has
   * waited for `timeoutMs`, including the wait for the read in flight.
   */
  read(signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    this.#options.counters.readIndexRequests += 1;
    this.#waiting ??= createBatch(this.#options.timeoutMs);
    const { promise } = this.#waiting;
    if (!this.#isReading) void this.#run();
    return untilAborted(promise, signal);
  }

  async #run(): Promise<void> {
    this.#isReading = true;
    for (let batch = this.#waiting; batch !== undefined; batch = this.#waiting) {
      this.#waiting = undefined;
      this.#options.counters.readIndexCalls += 1;
      const { deadline, timer } = batch;
      try {
        batch.resolve(await untilAborted(this.#options.read(deadline), deadline));
      } catch (error) {
        batch.reject(error);
      } finally {
        clearTimeout(timer);
      }
    }
    this.#isReading = false;
  }
}

/** A batch of callers that share one read. */
interface Batch {
  readonly promise: Promise<number>;
  readonly resolve: (revision: number) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: AbortSignal;
  readonly timer: NodeJS.Timeout;
}

function createBatch(timeoutMs: number): Batch {
  let resolve: Batch['resolve'] = () => undefined;
  let reject: Batch['reject'] = () => undefined;
  const promise = new Promise<number>((onRead, onFailure) => {
    resolve = onRead;
    reject = onFailure;
  });
  // All callers may have aborted before it rejects.
  promise.catch(() => undefined);
  const deadline = new LightSignal();
  const timer = setTimeout(() => {
    deadline.abort(new StorageError('unavailable', 'the store did not return its revision in time'));
  }, timeoutMs).unref();
  return { promise, resolve, reject, deadline, timer };
}
