/** What is known of a webhook that does not answer. */
export interface Outage {
  /** When the first of the failures was noticed, in milliseconds since the epoch. */
  readonly sinceMs: number;
  readonly failures: number;
  /** What was wrong the last time. */
  readonly why: string;
}

export interface CircuitBreakerOptions {
  /** How many calls in a row must go unanswered until it opens; 0: it never opens. */
  readonly failuresMax: number;
  /** How long no call is made until one may try again, in milliseconds. */
  readonly pauseMs: number;
}

/**
 * Keeps calls away from a webhook that does not answer. Once enough calls in a row have had no answer, calls fail at once; after each
 * pause one of them is let through to try, and when it is answered, all are. An answer that is of no use is an answer nevertheless: it
 * may be due to one object, and it came in time.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #sinceMs = 0;
  #failures = 0;
  #why = '';
  #failedAtMs = 0;
  #isTrying = false;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  /** Undefined while calls go through. */
  get outage(): Outage | undefined {
    const { failuresMax } = this.#options;
    if (failuresMax === 0 || this.#failures < failuresMax) return undefined;
    return { sinceMs: this.#sinceMs, failures: this.#failures, why: this.#why };
  }

  /** The outage for which a call must not be made. Else make it, and tell how it ended; a try also has to be ended. */
  enter(nowMs: number): Outage | 'go' | 'try' {
    const { outage } = this;
    if (outage === undefined) return 'go';
    // A clock that was set back makes no pause longer.
    const sinceFailureMs = nowMs - this.#failedAtMs;
    const isPaused = sinceFailureMs >= 0 && sinceFailureMs < this.#options.pauseMs;
    if (this.#isTrying || isPaused) return outage;
    this.#isTrying = true;
    return 'try';
  }

  endTry(): void {
    this.#isTrying = false;
  }

  /** There was an answer. True when that ends an outage. */
  answered(): boolean {
    const wasOpen = this.outage !== undefined;
    this.#failures = 0;
    return wasOpen;
  }

  /** There was none. True when an outage begins with it. */
  unanswered(why: string, nowMs: number): boolean {
    const wasOpen = this.outage !== undefined;
    if (this.#failures === 0) this.#sinceMs = nowMs;
    this.#failures += 1;
    this.#why = why;
    this.#failedAtMs = nowMs;
    return !wasOpen && this.outage !== undefined;
  }
}
