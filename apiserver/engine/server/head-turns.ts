export interface HeadTurnsOptions {
  /** How many heads are read in one turn of the event loop, of all connections together. */
  readonly perTurn: number;
  /** Calls back in the next turn. */
  readonly nextTurn: (callback: () => void) => void;
}

/**
 * When the heads of requests over HTTP/2 are read. Node makes a stream of each at once, and a read of the connection may bring some seven hundred
 * that are reset right behind: the streams alone would hold up everybody else.
 */
export class HeadTurns {
  readonly #options: HeadTurnsOptions;
  #left: number;
  #isTurnAwaited = false;

  constructor(options: HeadTurnsOptions) {
    this.#options = options;
    this.#left = options.perTurn;
  }

  /** To be called for each head. False: it belongs to a later turn, unless it is the first of its connection in this one. */
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
