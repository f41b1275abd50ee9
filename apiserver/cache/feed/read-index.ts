import { untilAborted } from '../../../shared/concurrency/abort';
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
   * Rejects with the store's error, with StorageError `unavailable` after `timeoutMs`, or with the signal's reason. The time for which a
   * read before it hangs counts.
   */
  async read(signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    this.#options.counters.readIndexRequests += 1;
    this.#waiting ??= createRound();
    const { promise } = this.#waiting;
    if (!this.#isReading) void this.#run();
    return inTime(untilAborted(promise, signal), this.#options.timeoutMs);
  }

  async #run(): Promise<void> {
    this.#isReading = true;
    for (let round = this.#waiting; round !== undefined; round = this.#waiting) {
      this.#waiting = undefined;
      this.#options.counters.readIndexCalls += 1;
      const deadline = new AbortController();
      const timer = setTimeout(() => {
        deadline.abort(tooLate());
      }, this.#options.timeoutMs);
      timer.unref();
      try {
        round.resolve(await untilAborted(this.#options.read(deadline.signal), deadline.signal));
      } catch (error) {
        round.reject(error);
      } finally {
        clearTimeout(timer);
      }
    }
    this.#isReading = false;
  }
}

function tooLate(): StorageError {
  return new StorageError('unavailable', 'the store did not tell its revision in time');
}

async function inTime<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(tooLate());
    }, timeoutMs);
    timer.unref();
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}

interface Round {
  readonly promise: Promise<number>;
  readonly resolve: (revision: number) => void;
  readonly reject: (error: unknown) => void;
}

function createRound(): Round {
  let resolve: Round['resolve'] = () => undefined;
  let reject: Round['reject'] = () => undefined;
  const promise = new Promise<number>((onRead, onFailure) => {
    resolve = onRead;
    reject = onFailure;
  });
  // Every caller may have left by the time it fails.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
