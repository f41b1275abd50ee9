import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, Timers } from '../shared/concurrency/clock';
import { systemTimers } from '../shared/concurrency/clock';
import { parseDurationMs } from '../shared/flags/duration';
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

/** Turns of the event loop after a timer, in which its work may set further timers. */
const SETTLING_TURNS = 3;

/** The time of one control plane: that of the machine, plus what a test has advanced it by. */
export class PlaneClock implements Clock, Timers {
  #offsetMs = 0;
  readonly #pending = new Set<Pending>();
  #isClosed = false;

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

  /** Moves the time forward by milliseconds. Timers that become due call back in their order, each at its own time. */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw new RangeError(`the clock cannot be moved by ${String(ms)} ms`);
    const until = this.now() + ms;
    for (;;) {
      const next = this.#next(until);
      if (next === undefined) break;
      this.#offsetMs += Math.max(0, next.dueMs - this.now());
      this.#fire(next);
      for (let turns = 0; turns < SETTLING_TURNS; turns += 1) await turn();
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
