/** What is known of a webhook that does not answer. */
export interface Outage {
  /** When the first of the failures was noticed, in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** Calls in a row that failed. */
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

/** One call that may be made. */
export interface Attempt {
  /** Calls are numbered, so that it can be told which of them had begun before an answer came. */
  readonly number: number;
  /** Absent while the webhook answers. */
  readonly outage?: Outage;
  /** In an outage: the one call of a pause that is to find out whether it is over. */
  readonly isProbe: boolean;
}

/**
 * Tells when a webhook does not answer. Once enough calls in a row have failed by the webhook's own fault, there is an outage; in each
 * pause one call is a probe, and the first answer to any call ends the outage. An answer that is of no use is an answer nevertheless: it
 * may be due to one object, and it came in time. A call that fails although the webhook has answered others meanwhile says nothing of
 * the webhook either: whoever can make it slow with an object of theirs cannot make it seem dead while it serves others.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #attempts = 0;
  /** The calls up to this one had begun when the last answer came. */
  #answeredUpTo = 0;
  #sinceMs = 0;
  #failures = 0;
  #why = '';
  #probeAtMs = 0;
  #closedAtMs: number;

  constructor(options: CircuitBreakerOptions, nowMs: number) {
    this.#options = options;
    this.#closedAtMs = nowMs;
  }

  /** Undefined while calls go through. */
  get outage(): Outage | undefined {
    const { failuresMax } = this.#options;
    if (failuresMax === 0 || this.#failures < failuresMax) return undefined;
    return { sinceMs: this.#sinceMs, failures: this.#failures, why: this.#why };
  }

  /** When the last outage ended, or the webhook became known, in milliseconds since the epoch. */
  get closedAtMs(): number {
    return this.#closedAtMs;
  }

  /** How long it is until a call may be a probe, in milliseconds. A clock that was set back makes no pause longer. */
  untilProbeMs(nowMs: number): number {
    const untilMs = Math.max(0, this.#probeAtMs - nowMs);
    return untilMs > this.#options.pauseMs ? 0 : untilMs;
  }

  attempt(nowMs: number): Attempt {
    this.#attempts += 1;
    const { outage } = this;
    if (outage === undefined) return { number: this.#attempts, isProbe: false };
    const isProbe = this.untilProbeMs(nowMs) === 0;
    // One that hangs must not keep others from trying.
    if (isProbe) this.#probeAtMs = nowMs + this.#options.pauseMs;
    return { number: this.#attempts, outage, isProbe };
  }

  /** A call was given up by whoever made it, which tells nothing of the webhook. A probe is left to others. */
  abandoned({ isProbe }: Pick<Attempt, 'isProbe'>): void {
    if (isProbe) this.#probeAtMs = 0;
  }

  /** There was an answer. True when that ends an outage. */
  answered(nowMs: number): boolean {
    const wasOpen = this.outage !== undefined;
    this.#answeredUpTo = this.#attempts;
    this.#failures = 0;
    if (wasOpen) this.#closedAtMs = nowMs;
    return wasOpen;
  }

  /** The webhook failed a call. True when an outage begins with it. */
  failed({ number }: Pick<Attempt, 'number'>, why: string, nowMs: number): boolean {
    if (number <= this.#answeredUpTo) return false;
    const wasOpen = this.outage !== undefined;
    if (this.#failures === 0) this.#sinceMs = nowMs;
    this.#failures += 1;
    this.#why = why;
    const isOpened = !wasOpen && this.outage !== undefined;
    if (isOpened) this.#probeAtMs = nowMs + this.#options.pauseMs;
    return isOpened;
  }
}
