import { monitorEventLoopDelay } from 'node:perf_hooks';

/** The interval of evaluations of the event-loop delay. */
export const EVALUATE_EVERY_MS = 250;
/** The sampling interval of the event-loop delay. */
const SAMPLE_EVERY_MS = 10;
/** Lists alone, in slices of a millisecond, do not cause this delay; a busy core or unsliced work does. */
const PRESSURE_MS = 2;
const GROWTH = 1.5;
const DECAY = 0.9;
const FACTOR_MAX = 8;

/** Returns the 90th percentile of the event-loop delay since the last call, in milliseconds. */
export type TakeLateness = () => number;

/**
 * Backpressure from the event-loop delay: when the loop is late, for want of a processor above all, long answers hold their seats longer, so that
 * fewer of them are sent and small requests wait less.
 */
export class LoopPressure {
  /** The factor by which seats are held longer, from 1 to 8. */
  seatTimeFactor = 1;
  readonly #takeLateness: TakeLateness;

  /** Evaluates the delay until the signal aborts. The timer does not keep the process alive. */
  constructor(shutdownSignal: AbortSignal, takeLateness: TakeLateness = watchLoopDelay(shutdownSignal)) {
    this.#takeLateness = takeLateness;
    const timer = setInterval(() => this.#evaluate(), EVALUATE_EVERY_MS).unref();
    shutdownSignal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  #evaluate(): void {
    const isLate = this.#takeLateness() > PRESSURE_MS;
    this.seatTimeFactor = Math.min(FACTOR_MAX, Math.max(1, this.seatTimeFactor * (isLate ? GROWTH : DECAY)));
  }
}

function watchLoopDelay(shutdownSignal: AbortSignal): TakeLateness {
  const delays = monitorEventLoopDelay({ resolution: SAMPLE_EVERY_MS });
  delays.enable();
  shutdownSignal.addEventListener('abort', () => delays.disable(), { once: true });
  return () => {
    const lateMs = delays.percentile(90) / 1e6 - SAMPLE_EVERY_MS;
    delays.reset();
    return lateMs;
  };
}
