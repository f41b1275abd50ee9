/** A request that is read, and not begun yet. */
export interface WaitingRequest {
  begin(): void;
}

export interface StreamTurnsOptions {
  /** How many of those that wait are begun in one turn of the event loop, of all connections together. */
  readonly perTurn: number;
  /** Calls back in the next turn. */
  readonly nextTurn: (callback: () => void) => void;
}

/**
 * When the requests of connections are begun that may send many at once: in each turn of the event loop the first of each connection,
 * as over HTTP/1.1, and a few of those that wait, one of each connection after the other. So a connection with 250 requests gets about as far as
 * one that sends them one by one, and what others send in the meantime is begun in between.
 */
export class StreamTurns<Connection extends object> {
  readonly #options: StreamTurnsOptions;
  /** The connection whose turn is next comes first. */
  readonly #waiting = new Map<Connection, Set<WaitingRequest>>();
  #count = 0;
  /** The connections that have begun a request in this turn. */
  readonly #begun = new Set<Connection>();
  #isTurnAwaited = false;

  constructor(options: StreamTurnsOptions) {
    this.#options = options;
  }

  /** How many wait. */
  get size(): number {
    return this.#count;
  }

  /** Begins it at once or in a later turn. */
  add(connection: Connection, request: WaitingRequest): void {
    const queue = this.#waiting.get(connection);
    this.#awaitTurn();
    if (queue === undefined && !this.#begun.has(connection)) {
      this.#begun.add(connection);
      request.begin();
      return;
    }
    this.#count += 1;
    if (queue === undefined) this.#waiting.set(connection, new Set([request]));
    else queue.add(request);
  }

  /** A request that its client has given up is never begun. False: it did not wait any more. */
  remove(connection: Connection, request: WaitingRequest): boolean {
    const queue = this.#waiting.get(connection);
    if (queue?.delete(request) !== true) return false;
    this.#count -= 1;
    if (queue.size === 0) this.#waiting.delete(connection);
    return true;
  }

  #awaitTurn(): void {
    if (this.#isTurnAwaited) return;
    this.#isTurnAwaited = true;
    this.#options.nextTurn(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isTurnAwaited = false;
    this.#begun.clear();
    for (let left = this.#options.perTurn; left > 0; left -= 1) this.#beginNext();
    if (this.#count > 0 || this.#begun.size > 0) this.#awaitTurn();
  };

  #beginNext(): void {
    for (const [connection, queue] of this.#waiting) {
      for (const request of queue) {
        this.remove(connection, request);
        // Behind all others.
        if (this.#waiting.delete(connection)) this.#waiting.set(connection, queue);
        this.#begun.add(connection);
        request.begin();
        return;
      }
    }
  }
}
