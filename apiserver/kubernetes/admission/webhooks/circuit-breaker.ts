/** The state of a webhook that does not answer. */
export interface Outage {
  /** Time of the first failure, in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** Consecutive failed calls. */
  readonly failures: number;
  /** The last failure. */
  readonly why: string;
}

export interface CircuitBreakerOptions {
  /** Consecutive failures that open the breaker; 0 disables it. */
  readonly failuresMax: number;
  /** Time without calls between probes, in milliseconds. */
  readonly pauseMs: number;
}

/** One permitted call. */
export interface Attempt {
  /** Sequence number: shows which calls had begun before an answer. */
  readonly number: number;
  /** Absent while the breaker is closed. */
  readonly outage?: Outage;
  /** In an outage: the one call of a pause that probes. */
  readonly isProbe: boolean;
}

/**
 * A circuit breaker. Enough consecutive failures by the webhook's own fault open it; each pause has one probe, and the first answer to
 * any call closes it. An unusable answer is still an answer. A failure does not count if the webhook answered another call meanwhile, so
 * a tenant whose objects make it slow cannot open the breaker while others use it (ADR 35).
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #attempts = 0;
  /** Calls up to this number had begun when the last answer came. */
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

  /** Undefined while the breaker is closed. */
  get outage(): Outage | undefined {
    const { failuresMax } = this.#options;
    if (failuresMax === 0 || this.#failures < failuresMax) return undefined;
    return { sinceMs: this.#sinceMs, failures: this.#failures, why: this.#why };
  }

  /** When the last outage ended or the webhook became known, in milliseconds since the epoch. */
  get closedAtMs(): number {
    return this.#closedAtMs;
  }

  /** Returns the time until the next probe, in milliseconds. A clock that was set back makes no pause longer. */
  untilProbeMs(nowMs: number): number {
    const untilMs = Math.max(0, this.#probeAtMs - nowMs);
    return untilMs > this.#options.pauseMs ? 0 : untilMs;
  }

  attempt(nowMs: number): Attempt {
    this.#attempts += 1;
    const { outage } = this;
    if (outage === undefined) return { number: this.#attempts, isProbe: false };
    const isProbe = this.untilProbeMs(nowMs) === 0;
    // A hanging probe must not prevent the next one.
    if (isProbe) this.#probeAtMs = nowMs + this.#options.pauseMs;
    return { number: this.#attempts, outage, isProbe };
  }

  /** A call was aborted by its caller, which says nothing about the webhook. Another call may probe. */
  abandoned({ isProbe }: Pick<Attempt, 'isProbe'>): void {
    if (isProbe) this.#probeAtMs = 0;
  }

  /** Records an answer. Returns true if it ends an outage. */
  answered(nowMs: number): boolean {
    const wasOpen = this.outage !== undefined;
    this.#answeredUpTo = this.#attempts;
    this.#failures = 0;
    if (wasOpen) this.#closedAtMs = nowMs;
    return wasOpen;
  }

  /** Records a failure. Returns true if an outage begins with it. */
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
