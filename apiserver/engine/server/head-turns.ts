export interface HeadTurnsOptions {
  /** Header blocks read in one turn of the event loop, over all connections. */
  readonly perTurn: number;
  /** Calls back in the next turn. */
  readonly nextTurn: (callback: () => void) => void;
}

/**
 * Spreads the reading of HTTP/2 header blocks over turns of the event loop, against rapid reset: Node creates a
 * stream for each header block, and one read of a connection can hold some seven hundred that are reset at once.
 */
export class HeadTurns {
  readonly #options: HeadTurnsOptions;
  #left: number;
  #isTurnAwaited = false;

  constructor(options: HeadTurnsOptions) {
    this.#options = options;
    this.#left = options.perTurn;
  }

  /**
   * Called for each header block. Returns false if it belongs to a later turn. The first one of a connection in a
   * turn is read all the same.
   */
  take(): boolean {
    if (!this.#isTurnAwaited) {
      this.#isTurnAwaited = true;
      this.#options.nextTurn(this.#begin);
    }
    this.#left -= 1;
    return this.#left >= 0;
  }

  readonly #begin = (): void => {
    this.#isTurnAwaited = false;
    this.#left = this.#options.perTurn;
  };
}
