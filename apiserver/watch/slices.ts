/**
 * Long work in slices: `due` says that the event loop was held long enough, `pause` gives everything else its turn. Usage:
 * `if (slices.due()) await slices.pause();`
 */
export class Slices {
  readonly #sliceMs: number;
  #startedAt: number;

  constructor(sliceMs: number = SLICE_MS) {
    this.#sliceMs = sliceMs;
    this.#startedAt = performance.now();
  }

  /** The time until now was spent waiting, not working. */
  restart(): void {
    this.#startedAt = performance.now();
  }

  due(): boolean {
    return performance.now() - this.#startedAt >= this.#sliceMs;
  }

  async pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    this.#startedAt = performance.now();
  }
}

/** Well below the 10 ms for which nothing may hold the loop: others have their slices in the same turn. */
export const SLICE_MS = 4;
