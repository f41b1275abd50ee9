interface Mark {
  readonly at: number;
  /** The newest revision at that time. */
  readonly revision: number;
}

/** Resolution of the times, and about the maximum number of marks. */
const MARKS_MAX = 64;

/** Records which revision was the newest at which time, up to a maximum age. Times are milliseconds since the epoch. */
export class RevisionAges {
  readonly #ageMaxMs: number;
  /** Oldest first; only the first may be older than the maximum age. */
  readonly #marks: Mark[] = [];

  constructor(ageMaxMs: number) {
    this.#ageMaxMs = ageMaxMs;
  }

  /** Records that `revision` is the newest at `now`. */
  note(revision: number, now: number): void {
    const last = this.#marks.at(-1);
    if (last !== undefined && now - last.at < this.#ageMaxMs / MARKS_MAX) return;
    this.#marks.push({ at: now, revision });
    while ((this.#marks[1]?.at ?? Infinity) <= now - this.#ageMaxMs) this.#marks.shift();
  }

  /** Whether the revision was superseded longer ago than the maximum age. */
  hasExpired(revision: number, now: number): boolean {
    const then = this.#marks.findLast(({ at }) => at <= now - this.#ageMaxMs);
    return then !== undefined && then.revision > revision;
  }

  /** Resets it when the state is discarded. */
  forget(): void {
    this.#marks.length = 0;
  }
}
