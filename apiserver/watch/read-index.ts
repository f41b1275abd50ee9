import { untilAborted } from '../../shared/concurrency/abort';
import { StorageError } from '../storage/backend';
import type { Counters } from './stats';

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

  /** Rejects with the store's error, with StorageError `unavailable` after `timeoutMs`, or with the signal's reason. */
  async read(signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    this.#options.counters.readIndexRequests += 1;
    this.#waiting ??= createRound();
    const { promise } = this.#waiting;
    if (!this.#isReading) void this.#run();
    return untilAborted(promise, signal);
  }

  async #run(): Promise<void> {
    this.#isReading = true;
    for (let round = this.#waiting; round !== undefined; round = this.#waiting) {
      this.#waiting = undefined;
      this.#options.counters.readIndexCalls += 1;
      const deadline = new AbortController();
      const timer = setTimeout(() => {
        deadline.abort(new StorageError('unavailable', 'the store did not tell its revision in time'));
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
