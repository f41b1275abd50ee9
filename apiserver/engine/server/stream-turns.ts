/** A request that has arrived and is not started yet. */
export interface WaitingRequest {
  begin(): void;
}

export interface StreamTurnsOptions {
  /** Waiting requests started in one turn of the event loop, over all connections. */
  readonly perTurn: number;
  /** Calls back in the next turn. */
  readonly nextTurn: (callback: () => void) => void;
}

/**
 * Schedules the requests of multiplexed connections fairly, against head-of-line blocking of other clients: in each
 * turn of the event loop, the first request of each connection starts, and a few waiting ones, round-robin over the
 * connections. A connection with 250 concurrent requests gets about as far as one that sends them one by one.
 */
export class StreamTurns<Connection extends object> {
  readonly #options: StreamTurnsOptions;
  /** In order of their turns. */
  readonly #waiting = new Map<Connection, Set<WaitingRequest>>();
  #count = 0;
  /** Connections that have started a request in this turn. */
  readonly #begun = new Set<Connection>();
  #isTurnAwaited = false;

  constructor(options: StreamTurnsOptions) {
    this.#options = options;
  }

  /** The number of waiting requests. */
  get size(): number {
    return this.#count;
  }

  /** Starts the request at once or in a later turn. */
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

  /** Removes a request that its client has cancelled. Returns false if it is not waiting any more. */
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
        // Moves the connection to the end of the queue.
        if (this.#waiting.delete(connection)) this.#waiting.set(connection, queue);
        this.#begun.add(connection);
        request.begin();
        return;
      }
    }
  }
}
