import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { STEP_MS_MIN, STEP_TIMES } from './long-steps';

/** Time that all sliced work may hold the loop in one turn; nearly all requests need less altogether. */
const LONG_STEP_MS = 2.5;

/**
 * Yields the event loop between steps that are rarely long: a step that held the loop gives others a turn before the next one. Usage: `if
 * (pace.isDue) await pace.rest();` between two steps.
 */
export class Pace {
  #begunAt = performance.now();
  #steppedAt = this.#begunAt;

  /** Reports whether the finished steps have held the loop for long. */
  get isDue(): boolean {
    return performance.now() - this.#begunAt > LONG_STEP_MS;
  }

  /** The same, and the step that ends here is counted as one of this stage if it was a long one. */
  isDueAfter(stage: string): boolean {
    const now = performance.now();
    const tookMs = now - this.#steppedAt;
    if (tookMs >= STEP_MS_MIN) STEP_TIMES.note(stage, tookMs, now);
    this.#steppedAt = now;
    return now - this.#begunAt > LONG_STEP_MS;
  }

  /** Resolves in a later turn of the loop, in which the next step begins. */
  async rest(): Promise<void> {
    // The first one comes before anything that arrives is looked at, if this step began by something that arrived.
    await nextTurn();
    await nextTurn();
    this.#begunAt = performance.now();
    this.#steppedAt = this.#begunAt;
  }
}
