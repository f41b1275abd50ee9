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

/**
 * Limits concurrent calls; further ones wait in a bounded queue in which holders (users, or the accounts of a namespace)
 * take turns. A full queue drops the newest call of the holder that has the most, so that no tenant fills it for others.
 */
export class Bulkhead {
  readonly #options: BulkheadOptions;
  /** The waiting calls of each holder, which are never empty; whose turn it is first. */
  readonly #holders = new Map<string, Set<Waiter>>();
  #waiting = 0;
  #calls = 0;

  constructor(options: BulkheadOptions) {
    this.#options = options;
  }

  get calls(): number {
    return this.#calls;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Resolves when the call may begin; `leave` must follow. Throws BulkheadFullError or the signal's reason. */
  async enter(signal: AbortSignal, holder = ''): Promise<void> {
    signal.throwIfAborted();
    if (this.#calls < this.#options.callsMax) {
      this.#calls += 1;
      return;
    }
    if (this.#waiting >= this.#options.waitingMax) this.#makeRoom(holder);
    await this.#wait(signal, holder);
  }

  leave(): void {
    const next = this.#holders.entries().next();
    if (next.done === true) {
      this.#calls -= 1;
      return;
    }
    const [holder, waiters] = next.value;
    const [waiter] = waiters;
    if (waiter === undefined) return;
    // The slot is handed over, and the next one goes to another holder.
    this.#remove(holder, waiter);
    if (waiters.size > 0 && this.#holders.delete(holder)) this.#holders.set(holder, waiters);
    waiter.start();
  }

  /** Fails all waiting calls. */
  clear(error: Error): void {
    const waiters = [...this.#holders.values()].flatMap((each) => [...each]);
    this.#holders.clear();
    this.#waiting = 0;
    for (const waiter of waiters) waiter.fail(error);
  }

  /** Drops a waiting call of the largest holder. Throws BulkheadFullError if the newcomer's holder has as many. */
  #makeRoom(newcomer: string): void {
    const full = new BulkheadFullError(`${String(this.#options.waitingMax)} calls wait for it already`);
    let largest: readonly [string, ReadonlySet<Waiter>] | undefined;
    for (const each of this.#holders) if (each[1].size > (largest?.[1].size ?? 0)) largest = each;
    const dropped = largest === undefined ? undefined : [...largest[1]].at(-1);
    if (largest === undefined || dropped === undefined) throw full;
    if (largest[1].size <= (this.#holders.get(newcomer)?.size ?? 0) + 1) throw full;
    this.#remove(largest[0], dropped);
    dropped.fail(full);
  }

  #remove(holder: string, waiter: Waiter): void {
    const waiters = this.#holders.get(holder);
    if (waiters?.delete(waiter) !== true) return;
    this.#waiting -= 1;
    if (waiters.size === 0) this.#holders.delete(holder);
  }

  async #wait(signal: AbortSignal, holder: string): Promise<void> {
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
        this.#remove(holder, waiter);
        waiter.fail(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const own = this.#holders.get(holder) ?? new Set();
      this.#holders.set(holder, own.add(waiter));
      this.#waiting += 1;
    });
  }
}
