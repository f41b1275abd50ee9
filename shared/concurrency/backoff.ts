export interface BackoffOptions {
  /** The first wait, in milliseconds. */
  readonly initialMs: number;
  readonly maxMs: number;
  /** In [0, 1). */
  readonly random?: () => number;
}

/** Waits that double up to a bound, each drawn from its upper half so that many clients do not come back in step. */
export class Backoff {
  readonly #initialMs: number;
  readonly #maxMs: number;
  readonly #random: () => number;
  #nextMs: number;

  constructor({ initialMs, maxMs, random = Math.random }: BackoffOptions) {
    this.#initialMs = initialMs;
    this.#maxMs = maxMs;
    this.#random = random;
    this.#nextMs = initialMs;
  }

  /** Returns the next delay in milliseconds. */
  next(): number {
    const ms = this.#nextMs;
    this.#nextMs = Math.min(ms * 2, this.#maxMs);
    return ms * (0.5 + this.#random() / 2);
  }

  /** The next wait is the first one again. */
  reset(): void {
    this.#nextMs = this.#initialMs;
  }
}
