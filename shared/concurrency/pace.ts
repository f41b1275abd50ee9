import { setImmediate as nextTurn } from 'node:timers/promises';

/** Well above what an ordinary request takes altogether. */
const LONG_STEP_MS = 10;

/**
 * For work in a few steps of which each may be long, though hardly ever one is: a step that held the event loop lets everything else have
 * its turn before the next one begins. Usage: `if (pace.isDue) await pace.rest();` between two steps.
 */
export class Pace {
  #steppedAt = performance.now();

  /** Whether the step that ends here was a long one. */
  get isDue(): boolean {
    return performance.now() - this.#steppedAt > LONG_STEP_MS;
  }

  /** Resolves in a later turn of the loop, in which the next step begins. */
  async rest(): Promise<void> {
    // The first one comes before anything that arrives is looked at, if this step began by something that arrived.
    await nextTurn();
    await nextTurn();
    this.#steppedAt = performance.now();
  }
}
