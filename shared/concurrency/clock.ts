import { TIMER_MAX_MS } from './timer-max';

/** Time enters the code through this parameter, so that a test can move it. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Timers that follow a clock, which an embedding test can advance. */
export interface Timers {
  /**
   * Calls back once, after `ms` milliseconds of the clock, at most almost 25 days; at the next turn of the event loop if `ms` is not positive.
   * Does not keep the process alive. Returns the cancellation.
   */
  after(ms: number, callback: () => void): () => void;
}

/** The time of the machine. */
export const systemTimers: Clock & Timers = {
  now: () => Date.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, Math.min(Math.max(ms, 0), TIMER_MAX_MS)).unref();
    return () => {
      clearTimeout(timer);
    };
  },
};
