/** Smaller pieces are copied together. */
const SMALL_BYTES = 4 * 1_024;
const BLOCK_BYTES = 16 * 1_024;

/**
 * Bytes that arrive in pieces. Small pieces are copied together as they come: kept by themselves, a body that is sent byte by byte would take
 * some hundred times its size. One piece alone is not copied.
 */
export class Gathered {
  #bytes = 0;
  readonly #pieces: Buffer[] = [];
  #block: Buffer = NOTHING;
  #used = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    if (piece.length >= SMALL_BYTES || this.#bytes === piece.length) {
      this.#seal();
      this.#pieces.push(piece);
      return;
    }
    if (piece.length > this.#block.length - this.#used) {
      this.#seal();
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    }
    this.#used += piece.copy(this.#block, this.#used);
  }

  /** All of them. To be called once. */
  joined(): Buffer {
    this.#seal();
    const [only] = this.#pieces;
    return this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces, this.#bytes);
  }

  /** What comes next does not go into the block any more. */
  #seal(): void {
    if (this.#used > 0) this.#pieces.push(this.#block.subarray(0, this.#used));
    this.#block = NOTHING;
    this.#used = 0;
  }
}

const NOTHING = Buffer.alloc(0);
