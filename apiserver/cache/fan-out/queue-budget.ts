/** What a frame takes in a queue besides its bytes: a link of a run. */
const LINK_BYTES = 128;

/**
 * The bytes that the queues of all watchers keep in memory. A frame that is in many queues is there once, and counts once; its place in a
 * queue counts for each sequence of frames, which watchers that receive the same share.
 */
export class QueueBudget {
  readonly bytesMax: number;
  #bytes = 0;
  readonly #uses = new Map<Buffer, number>();

  constructor(bytesMax = Infinity) {
    this.bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isExceeded(): boolean {
    return this.#bytes > this.bytesMax;
  }

  hold(frame: Buffer): void {
    const uses = this.#uses.get(frame) ?? 0;
    this.#uses.set(frame, uses + 1);
    this.#bytes += LINK_BYTES + (uses === 0 ? frame.length : 0);
  }

  release(frame: Buffer): void {
    const uses = (this.#uses.get(frame) ?? 1) - 1;
    if (uses > 0) this.#uses.set(frame, uses);
    else this.#uses.delete(frame);
    this.#bytes -= LINK_BYTES + (uses > 0 ? 0 : frame.length);
  }
}
