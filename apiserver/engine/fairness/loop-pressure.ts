import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the loop is judged, by the looks since the last time. */
export const JUDGE_EVERY_MS = 250;
/** The loop is looked at so often. */
const LOOK_EVERY_MS = 10;
/** Lists alone, in turns of a millisecond, do not make it so late: then it waits for a core, or for what is not done in turns. */
const STRAINED_MS = 2;
const WORSE = 1.5;
const BETTER = 0.9;
const STRETCH_MAX = 8;

/** Tells how late the loop came at nine of ten looks since the last call, in milliseconds. */
export type TakeLateness = () => number;

/**
 * How much longer than on an idle machine long answers keep their seats, so that fewer of them are written: as the loop comes late, because its
 * processor is taken by others (or by other replicas, or its container has used its part up), everybody's small requests wait in each of their
 * steps, and bytes that are sent at full speed are what can wait.
 */
export class LoopPressure {
  /** From 1 to 8. */
  seatTimeFactor = 1;
  readonly #takeLateness: TakeLateness;

  /** Judges the loop until the signal aborts; keeps no process alive. */
  constructor(shutdownSignal: AbortSignal, takeLateness: TakeLateness = watchLoopDelay(shutdownSignal)) {
    this.#takeLateness = takeLateness;
    const timer = setInterval(() => this.#judge(), JUDGE_EVERY_MS).unref();
    shutdownSignal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  #judge(): void {
    const isStrained = this.#takeLateness() > STRAINED_MS;
    this.seatTimeFactor = Math.min(
      STRETCH_MAX,
      Math.max(1, this.seatTimeFactor * (isStrained ? WORSE : BETTER)),
    );
  }
}

function watchLoopDelay(shutdownSignal: AbortSignal): TakeLateness {
  const delays = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS });
  delays.enable();
  shutdownSignal.addEventListener('abort', () => delays.disable(), { once: true });
  return () => {
    const lateMs = delays.percentile(90) / 1e6 - LOOK_EVERY_MS;
    delays.reset();
    return lateMs;
  };
}
