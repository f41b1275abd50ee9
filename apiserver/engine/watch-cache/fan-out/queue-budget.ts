/** What a frame, or an event that waits for its frame, takes in a queue besides its bytes. */
export const LINK_BYTES = 128;

/**
 * The bytes that the queues of all watchers keep in memory, those of ended watches that nobody has read yet included. A frame that is in many queues is there once, and counts once; its place in a
 * queue counts for each sequence of frames, which watchers that receive the same share.
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

  /** A frame, or an object as it is stored, of so many bytes: always of as many. */
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
