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
 * A revision at or above every write that was acknowledged before the call, for many callers at the price of one read: all who wait
 * while a read is in flight share the next one. None may share the one in flight, which could have been answered before they came.
 */
export class ReadIndex {
  readonly #options: ReadIndexOptions;
  #waiting: Round | undefined;
  #isReading = false;

  constructor(options: ReadIndexOptions) {
    this.#options = options;
  }

  /**
   * Rejects with the store's error, with the signal's reason, or with StorageError `unavailable` once the first of those who share the read
   * has waited for `timeoutMs`. The time for which a read before it hangs counts.
   */
  read(signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    this.#options.counters.readIndexRequests += 1;
    this.#waiting ??= createRound(this.#options.timeoutMs);
    const { promise } = this.#waiting;
    if (!this.#isReading) void this.#run();
    return untilAborted(promise, signal);
  }

  async #run(): Promise<void> {
    this.#isReading = true;
    for (let round = this.#waiting; round !== undefined; round = this.#waiting) {
      this.#waiting = undefined;
      this.#options.counters.readIndexCalls += 1;
      const { deadline, timer } = round;
      try {
        round.resolve(await untilAborted(this.#options.read(deadline), deadline));
      } catch (error) {
        round.reject(error);
      } finally {
        clearTimeout(timer);
      }
    }
    this.#isReading = false;
  }
}

/** Those who share a read, from when the first of them comes. */
interface Round {
  readonly promise: Promise<number>;
  readonly resolve: (revision: number) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: AbortSignal;
  readonly timer: NodeJS.Timeout;
}

function createRound(timeoutMs: number): Round {
  let resolve: Round['resolve'] = () => undefined;
  let reject: Round['reject'] = () => undefined;
  const promise = new Promise<number>((onRead, onFailure) => {
    resolve = onRead;
    reject = onFailure;
  });
  // Every caller may have left by the time it fails.
  promise.catch(() => undefined);
  const deadline = new LightSignal();
  const timer = setTimeout(() => {
    deadline.abort(new StorageError('unavailable', 'the store did not tell its revision in time'));
  }, timeoutMs).unref();
  return { promise, resolve, reject, deadline, timer };
}
