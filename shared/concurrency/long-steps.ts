import { DurationHistogram } from '../metrics/duration-histogram';

/** Milliseconds. Shorter steps, nearly all, are not counted. */
export const STEP_MS_MIN = 1;
const BOUNDS_SECONDS: readonly number[] = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** For how long the longest step is remembered at least; at most twice as long. */
const REMEMBERED_MS = 300_000;
/** Stages are named in the code; more of them would be a mistake and are not counted. */
const STAGES_MAX = 100;

/** The counts of one stage. */
export interface LongSteps {
  readonly stage: string;
  readonly durations: DurationHistogram;
  /** Milliseconds, of the last five to ten minutes. */
  readonly longestMs: number;
}

/**
 * Which kinds of work hold the event loop, and for how long. A step is work in one go: what it waits for is never in its time, and no other
 * request's work can be. Steps may be in one another, and then count for both stages.
 */
export class StepTimes {
  readonly #stages = new Map<string, StageTimes>();
  readonly #elapsedMs: () => number;

  constructor(elapsedMs: () => number = (): number => performance.now()) {
    this.#elapsedMs = elapsedMs;
  }

  /** Carries out one step. Of one that returns a promise only what it does before it waits is counted. */
  run<T>(stage: string, step: () => T): T {
    const began = this.#elapsedMs();
    try {
      return step();
    } finally {
      const now = this.#elapsedMs();
      if (now - began >= STEP_MS_MIN) this.note(stage, now - began, now);
    }
  }

  /** Records a step that its caller timed: duration and end, in milliseconds. */
  note(stage: string, ms: number, now: number): void {
    if (ms < STEP_MS_MIN) return;
    let times = this.#stages.get(stage);
    if (times === undefined) {
      if (this.#stages.size >= STAGES_MAX) return;
      times = new StageTimes(now);
      this.#stages.set(stage, times);
    }
    times.observe(ms, now);
  }

  *longSteps(): IterableIterator<LongSteps> {
    const now = this.#elapsedMs();
    for (const [stage, times] of this.#stages) {
      yield { stage, durations: times.durations, longestMs: times.longestMs(now) };
    }
  }
}

class StageTimes {
  readonly durations = new DurationHistogram(BOUNDS_SECONDS);
  #beganAt: number;
  #longestMs = 0;
  #longestBeforeMs = 0;

  constructor(now: number) {
    this.#beganAt = now;
  }

  observe(ms: number, now: number): void {
    this.#forget(now);
    this.durations.observe(ms);
    this.#longestMs = Math.max(this.#longestMs, ms);
  }

  longestMs(now: number): number {
    this.#forget(now);
    return Math.max(this.#longestMs, this.#longestBeforeMs);
  }

  #forget(now: number): void {
    const agoMs = now - this.#beganAt;
    if (agoMs < REMEMBERED_MS) return;
    this.#longestBeforeMs = agoMs < 2 * REMEMBERED_MS ? this.#longestMs : 0;
    this.#longestMs = 0;
    this.#beganAt = now;
  }
}

/** Of this process: there is one event loop. */
export const STEP_TIMES = new StepTimes();
