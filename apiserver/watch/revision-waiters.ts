import type { WaitOptions } from './context';

/** Those who wait until the cache has seen a revision. */
export class RevisionWaiters {
  readonly #waiters = new Set<{ readonly revision: number; readonly wake: (isThere: boolean) => void }>();
  #lowest = Infinity;

  get size(): number {
    return this.#waiters.size;
  }

  /** True once `advance` has reached the revision, false after the timeout or when the signal aborts. */
  async wait(revision: number, { timeoutMs, signal }: WaitOptions): Promise<boolean> {
    if (signal.aborted || timeoutMs <= 0) return false;
    return new Promise<boolean>((resolve) => {
      const wake = (isThere: boolean): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#waiters.delete(waiter);
        resolve(isThere);
      };
      const onAbort = (): void => {
        wake(false);
      };
      const waiter = { revision, wake };
      const timer = setTimeout(wake, Math.min(timeoutMs, TIMER_MAX_MS), false);
      timer.unref();
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
      this.#lowest = Math.min(this.#lowest, revision);
    });
  }

  /** Wakes everyone who waits for `revision` or less. Costs nothing while nobody does. */
  advance(revision: number): void {
    if (revision < this.#lowest) return;
    this.#lowest = Infinity;
    for (const waiter of this.#waiters) {
      if (waiter.revision <= revision) waiter.wake(true);
      else this.#lowest = Math.min(this.#lowest, waiter.revision);
    }
  }
}

/** A timer with a longer delay would fire at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;
