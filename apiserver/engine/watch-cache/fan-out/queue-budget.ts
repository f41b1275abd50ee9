/** Overhead of one frame or pending event in a queue, besides its bytes. */
export const LINK_BYTES = 128;

/**
 * Counts the bytes of the queues of all watchers, including unread queues of ended watches. A frame in many queues counts once; its overhead
 * counts once for each run of frames.
 */
export class QueueBudget {
  readonly bytesMax: number;
  #bytes = 0;
  readonly #uses = new Map<object, number>();

  constructor(bytesMax = Infinity) {
    this.bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isExceeded(): boolean {
    return this.#bytes > this.bytesMax;
  }

  /** Adds a reference to a frame or an object. `bytes` must be the same for all calls with it. */
  hold(what: object, bytes: number): void {
    const uses = this.#uses.get(what) ?? 0;
    this.#uses.set(what, uses + 1);
    this.#bytes += LINK_BYTES + (uses === 0 ? bytes : 0);
  }

  release(what: object, bytes: number): void {
    const uses = (this.#uses.get(what) ?? 1) - 1;
    if (uses > 0) this.#uses.set(what, uses);
    else this.#uses.delete(what);
    this.#bytes -= LINK_BYTES + (uses > 0 ? 0 : bytes);
  }
}
