import type { Clock } from './clock';

export interface Rate {
  readonly perSecond: number;
  /** Tokens available at once after a pause. */
  readonly burst: number;
}

const SECOND_MS = 1_000;

/** A rate limit: admits `perSecond` requests a second on average, and up to `burst` at once after a pause. */
export class TokenBucket {
  #rate: Rate;
  readonly #clock: Clock;
  #tokens: number;
  #filledAt: number;

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
    this.#tokens = rate.burst;
    this.#filledAt = clock.now();
  }

  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
  take(): number {
    this.#fill();
    if (this.#tokens < 1) return ((1 - this.#tokens) / this.#rate.perSecond) * SECOND_MS;
    this.#tokens -= 1;
    return 0;
  }

  /**
   * Takes this many tokens, possibly more than there are, and returns whether that leaves a debt: nothing is admitted until it is paid.
   */
  charge(tokens: number): boolean {
    this.#fill();
    this.#tokens -= tokens;
    return this.#tokens < 0;
  }

  /** Existing tokens are kept up to the new burst. */
  changeRate(rate: Rate): void {
    this.#fill();
    this.#rate = rate;
    this.#tokens = Math.min(rate.burst, this.#tokens);
  }

  #fill(): void {
    const { perSecond, burst } = this.#rate;
    const now = this.#clock.now();
    // A clock that is set back takes nothing away.
    const elapsedMs = Math.max(0, now - this.#filledAt);
    this.#tokens = Math.min(burst, this.#tokens + (elapsedMs / SECOND_MS) * perSecond);
    this.#filledAt = now;
  }
}
