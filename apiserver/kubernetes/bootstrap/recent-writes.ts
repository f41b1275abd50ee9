/** Others may write the same; who writes it otherwise is not fought more often than so. */
const WRITES_PER_MINUTE_MAX = 6;
const MINUTE_MS = 60_000;

/** How often each object was written of late, so that two who disagree about one do not write it without end. */
export class RecentWrites {
  readonly #nowMs: () => number;
  #minuteAt = 0;
  #byName = new Map<string, number>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether `name` may be written once more in this minute; counts the write if so. */
  mayWrite(name: string): boolean {
    const now = this.#nowMs();
    if (now - this.#minuteAt >= MINUTE_MS) {
      this.#minuteAt = now;
      this.#byName = new Map();
    }
    const count = (this.#byName.get(name) ?? 0) + 1;
    this.#byName.set(name, count);
    return count <= WRITES_PER_MINUTE_MAX;
  }
}
