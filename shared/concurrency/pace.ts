import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { STEP_MS_MIN, STEP_TIMES } from './long-steps';

/** As long as all sliced work may hold the loop in one turn: nearly all requests take less altogether. */
const LONG_STEP_MS = 2.5;

/**
 * For work in a few steps of which each may be long, though hardly ever one is: a step that held the event loop lets everything else have
 * its turn before the next one begins. Usage: `if (pace.isDue) await pace.rest();` between two steps.
 */
export class Pace {
  #begunAt = performance.now();
  #steppedAt = this.#begunAt;

  /** Whether the loop has been held for long by the steps that end here. */
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
