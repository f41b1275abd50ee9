export interface BulkheadOptions {
  readonly callsMax: number;
  readonly waitingMax: number;
}

/** Thrown when the queue is full. */
export class BulkheadFullError extends Error {}

interface Waiter {
  readonly start: () => void;
  readonly fail: (error: Error) => void;
}

/** Limits concurrent calls; further ones wait in a bounded FIFO queue. */
export class Bulkhead {
  readonly #options: BulkheadOptions;
  readonly #waiting = new Set<Waiter>();
  #calls = 0;

  constructor(options: BulkheadOptions) {
    this.#options = options;
  }

  get calls(): number {
    return this.#calls;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves when the call may begin; `leave` must follow. Throws BulkheadFullError or the signal's reason. */
  async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#calls < this.#options.callsMax) {
      this.#calls += 1;
      return;
    }
    if (this.#waiting.size >= this.#options.waitingMax) {
      throw new BulkheadFullError(`${String(this.#options.waitingMax)} calls wait for it already`);
    }
    await this.#wait(signal);
  }

  leave(): void {
    const next = this.#waiting.values().next();
    if (next.done === true) {
      this.#calls -= 1;
      return;
    }
    // The slot is handed over.
    this.#waiting.delete(next.value);
    next.value.start();
  }

  /** Fails all waiting calls. */
  clear(error: Error): void {
    for (const waiter of this.#waiting) waiter.fail(error);
    this.#waiting.clear();
  }

  async #wait(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const settle = (how: () => void): void => {
        signal.removeEventListener('abort', onAbort);
        how();
      };
      const waiter: Waiter = {
        start: () => {
          settle(resolve);
        },
        fail: (error) => {
          settle(() => {
            reject(error);
          });
        },
      };
      const onAbort = (): void => {
        this.#waiting.delete(waiter);
        waiter.fail(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiter);
    });
  }
}
