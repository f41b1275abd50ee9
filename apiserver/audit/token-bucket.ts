import type { Clock } from '../../shared/concurrency/clock';

export interface Rate {
  readonly perSecond: number;
  /** How many may come at once after a pause. */
  readonly burst: number;
}

const SECOND_MS = 1_000;

/** Lets so much through per second. */
export class TokenBucket {
  readonly #rate: Rate;
  readonly #clock: Clock;
  #tokens: number;
  #filledAt: number;

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
    this.#tokens = rate.burst;
    this.#filledAt = clock.now();
  }

  /** Takes a token and returns 0; or takes none and returns how many milliseconds it is until there is one. */
  take(): number {
    const { perSecond, burst } = this.#rate;
    const now = this.#clock.now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / SECOND_MS) * perSecond);
    this.#filledAt = now;
    if (this.#tokens < 1) return ((1 - this.#tokens) / perSecond) * SECOND_MS;
    this.#tokens -= 1;
    return 0;
  }
}
