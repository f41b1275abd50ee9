interface Mark {
  readonly at: number;
  /** The newest revision at that time. */
  readonly revision: number;
}

/** How finely time is divided; also how many marks are kept, but for two. */
const MARKS_MAX = 64;

/** Remembers which revision was the newest at what time, as far back as somebody may ask. Times are milliseconds since the epoch. */
export class RevisionAges {
  readonly #ageMaxMs: number;
  /** Oldest first; only the first may be older than the greatest age. */
  readonly #marks: Mark[] = [];

  constructor(ageMaxMs: number) {
    this.#ageMaxMs = ageMaxMs;
  }

  /** `revision` is the newest at this time. */
  note(revision: number, now: number): void {
    const last = this.#marks.at(-1);
    if (last !== undefined && now - last.at < this.#ageMaxMs / MARKS_MAX) return;
    this.#marks.push({ at: now, revision });
    while ((this.#marks[1]?.at ?? Infinity) <= now - this.#ageMaxMs) this.#marks.shift();
  }

  /** Whether something newer was there already at the greatest age ago, as far as is known. */
  isOver(revision: number, now: number): boolean {
    const then = this.#marks.findLast(({ at }) => at <= now - this.#ageMaxMs);
    return then !== undefined && then.revision > revision;
  }

  /** What was known is about another state. */
  forget(): void {
    this.#marks.length = 0;
  }
}
