import type { Clock } from '../../shared/concurrency/clock';
import type { Amounts } from '../../shared/quota/amounts';
import { NOTHING, minus, plus, withoutZeros } from '../../shared/quota/amounts';

/** Charges of about the same time are kept as one, and count so much longer; in milliseconds. */
export const GRAIN_MS = 50;

interface Charged {
  readonly atMs: number;
  readonly amounts: Amounts;
}

/**
 * What was charged to each quota in the last `windowMs`: in that time an object that was charged for has been stored and seen, or is not
 * coming. At most a few dozen entries for each quota.
 */
export class RecentCharges {
  readonly #clock: Clock;
  readonly #windowMs: number;
  readonly #charges = new Map<string, Charged[]>();

  constructor(clock: Clock, windowMs: number) {
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  /** `before` and `after` is what was used. Of a quota that is seen for the first time everything may have been charged just now. */
  note(key: string, before: Amounts, after: Amounts): void {
    const amounts = withoutZeros(minus(after, before));
    if (amounts.size === 0) return;
    const charges = this.#current(key);
    // The end of its grain: a charge counts rather longer than too short.
    const atMs = Math.ceil(this.#clock.now() / GRAIN_MS) * GRAIN_MS;
    const last = charges.at(-1);
    if (last?.atMs === atMs) charges[charges.length - 1] = { atMs, amounts: plus(last.amounts, amounts) };
    else charges.push({ atMs, amounts });
    this.#charges.set(key, charges);
  }

  of(key: string): Amounts {
    return this.#current(key).reduce((sum, { amounts }) => plus(sum, amounts), NOTHING);
  }

  forget(key: string): void {
    this.#charges.delete(key);
  }

  #current(key: string): Charged[] {
    const since = this.#clock.now() - this.#windowMs;
    const charges = (this.#charges.get(key) ?? []).filter(({ atMs }) => atMs > since);
    if (charges.length === 0) this.#charges.delete(key);
    return charges;
  }
}
