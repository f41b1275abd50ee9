/** Smaller chunks are copied into blocks. */
const SMALL_BYTES = 4 * 1_024;
const BLOCK_BYTES = 16 * 1_024;

/**
 * Collects the chunks of a body. Small chunks are copied into blocks: a body sent byte by byte would otherwise take
 * some hundred times its size. A single chunk is not copied.
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

  /** Returns all bytes. Called once. */
  joined(): Buffer {
    this.#seal();
    const [only] = this.#pieces;
    return this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces, this.#bytes);
  }

  /** Closes the current block. */
  #seal(): void {
    if (this.#used > 0) this.#pieces.push(this.#block.subarray(0, this.#used));
    this.#block = NOTHING;
    this.#used = 0;
  }
}

const NOTHING = Buffer.alloc(0);
