import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, Timers } from '../shared/concurrency/clock';
import { systemTimers } from '../shared/concurrency/clock';
import { parseDurationMs } from '../shared/flags/duration';
import type { WorkQueueObserver } from '../shared/concurrency/work-queue';
import type { Duration } from './types';

/** Milliseconds of a duration. Throws RangeError for text that is none. */
export function durationMs(duration: Duration): number {
  const ms = typeof duration === 'number' ? duration : parseDurationMs(duration);
  if (ms === undefined) throw new RangeError(`"${String(duration)}" is no duration such as 90s or 2h`);
  return ms;
}

interface Pending {
  readonly dueMs: number;
  readonly callback: () => void;
  cancel: () => void;
}

/** Turns of the event loop without work of a controller after which what a timer began has ended: events of writes take some of them. */
const QUIET_TURNS = 10;
/** Work of controllers that takes longer in real time continues while later timers are due. */
const SETTLING_MS_MAX = 1_000;
/** One call fires so many timers one by one; later ones are due at its end. */
const TIMERS_MAX = 20_000;

/** The time of one control plane: that of the machine, plus what a test has advanced it by. */
export class PlaneClock implements Clock, Timers {
  #offsetMs = 0;
  readonly #pending = new Set<Pending>();
  #isClosed = false;
  /** Keys that wait in work queues of controllers or are in progress. */
  #busyKeys = 0;

  now(): number {
    return systemTimers.now() + this.#offsetMs;
  }

  after(ms: number, callback: () => void): () => void {
    const pending: Pending = { dueMs: this.now() + ms, callback, cancel: () => undefined };
    if (this.#isClosed) return pending.cancel;
    this.#pending.add(pending);
    this.#arm(pending);
    return () => {
      this.#pending.delete(pending);
      pending.cancel();
    };
  }

  /** Observes a work queue of a controller, so that `advance` waits for its work until the signal aborts: no worker takes the rest. */
  observeWork(signal: AbortSignal): WorkQueueObserver {
    const waiting = new Set<string>();
    const taken = new Set<string>();
    signal.addEventListener('abort', () => (this.#busyKeys -= waiting.size + taken.size), { once: true });
    const count = (change: () => void): void => {
      if (signal.aborted) return;
      this.#busyKeys -= waiting.size + taken.size;
      change();
      this.#busyKeys += waiting.size + taken.size;
    };
    return {
      added: (key) => count(() => waiting.add(key)),
      taken: (key) => count(() => (waiting.delete(key), taken.add(key))),
      done: (key) => count(() => taken.delete(key)),
      delayed: () => undefined,
    };
  }

  /**
   * Moves the time forward by milliseconds. Timers that become due call back in their order, each at its own time, when the controllers have done
   * what earlier ones gave them to do.
   */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw new RangeError(`the clock cannot be moved by ${String(ms)} ms`);
    const until = this.now() + ms;
    for (let fired = 0; fired < TIMERS_MAX; fired += 1) {
      const next = this.#next(until);
      if (next === undefined) break;
      this.#offsetMs += Math.max(0, next.dueMs - this.now());
      this.#fire(next);
      await this.#settle();
    }
    this.#offsetMs += Math.max(0, until - this.now());
    for (const pending of this.#pending) {
      pending.cancel();
      this.#arm(pending);
    }
  }

  /** Cancels all timers. */
  close(): void {
    this.#isClosed = true;
    for (const { cancel } of this.#pending) cancel();
    this.#pending.clear();
  }

  async #settle(): Promise<void> {
    const untilMs = performance.now() + SETTLING_MS_MAX;
    for (let quiet = 0; quiet < QUIET_TURNS && performance.now() < untilMs; quiet += 1) {
      await turn();
      if (this.#busyKeys > 0) quiet = 0;
    }
  }

  #next(until: number): Pending | undefined {
    let next: Pending | undefined;
    for (const pending of this.#pending)
      if (pending.dueMs <= until && (next === undefined || pending.dueMs < next.dueMs)) next = pending;
    return next;
  }

  #arm(pending: Pending): void {
    pending.cancel = systemTimers.after(pending.dueMs - this.now(), () => {
      // A timer of the machine is limited to some weeks.
      if (this.now() < pending.dueMs) this.#arm(pending);
      else this.#fire(pending);
    });
  }

  #fire(pending: Pending): void {
    pending.cancel();
    if (this.#pending.delete(pending)) pending.callback();
  }
}
