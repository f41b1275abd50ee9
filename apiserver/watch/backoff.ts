import { sleep } from '../../shared/concurrency/abort';

/** Growing pauses between tries: each one twice the last up to a maximum, a random half of it cut off so that replicas spread. */
export class Backoff {
  readonly #minMs: number;
  readonly #maxMs: number;
  readonly #random: () => number;
  #nextMs: number;

  constructor(bounds: { readonly minMs: number; readonly maxMs: number; readonly random?: () => number }) {
    this.#minMs = bounds.minMs;
    this.#maxMs = bounds.maxMs;
    this.#random = bounds.random ?? Math.random;
    this.#nextMs = bounds.minMs;
  }

  /** After a success the next pause is the shortest again. */
  reset(): void {
    this.#nextMs = this.#minMs;
  }

  /** Rejects with the signal's reason when it aborts. */
  async pause(signal: AbortSignal): Promise<void> {
    const ms = this.#nextMs * (1 - this.#random() / 2);
    this.#nextMs = Math.min(this.#nextMs * 2, this.#maxMs);
    await sleep(ms, signal);
  }
}
