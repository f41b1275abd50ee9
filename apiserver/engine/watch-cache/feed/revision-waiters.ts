import { TIMER_MAX_MS } from '../../../../shared/concurrency/timer-max';
import type { WaitOptions } from '../context';

/** Callers that wait until the cache reaches a revision. */
export class RevisionWaiters {
  readonly #waiters = new Set<{ readonly revision: number; readonly wake: (isReached: boolean) => void }>();
  #lowest = Infinity;

  /** True once `advance` has reached the revision, false after the timeout or when the signal aborts. */
  async wait(revision: number, { timeoutMs, signal }: WaitOptions): Promise<boolean> {
    if (signal.aborted || timeoutMs <= 0) return false;
    return new Promise<boolean>((resolve) => {
      const wake = (isReached: boolean): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#waiters.delete(waiter);
        resolve(isReached);
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

  /** Wakes all callers that wait for `revision` or an older one. Costs nothing if there are none. */
  advance(revision: number): void {
    if (revision < this.#lowest) return;
    this.#lowest = Infinity;
    for (const waiter of this.#waiters) {
      if (waiter.revision <= revision) waiter.wake(true);
      else this.#lowest = Math.min(this.#lowest, waiter.revision);
    }
  }
}
