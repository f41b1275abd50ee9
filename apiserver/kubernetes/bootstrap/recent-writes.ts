/** Limits writes to an object that another writer keeps changing back. */
const WRITES_PER_MINUTE_MAX = 6;
const MINUTE_MS = 60_000;

/** Counts recent writes per object, so that two writers that disagree do not overwrite each other without end. */
export class RecentWrites {
  readonly #nowMs: () => number;
  #minuteAt = 0;
  #byName = new Map<string, number>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Returns whether `name` may be written within this minute; counts the write if so. */
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
