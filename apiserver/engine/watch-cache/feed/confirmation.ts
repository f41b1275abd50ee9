/**
 * Knows when the cache was last known to be as fresh as the store: a read index told a revision, and the cache has seen it. Between two
 * of these a cache whose feed has stalled looks like one in whose store nothing happens.
 */
export class Confirmation {
  readonly #monotonicMs: () => number;
  #toldRevision = 0;
  /** The read that told it began at this time, or later. */
  #toldAt = -Infinity;
  #confirmedAt = -Infinity;

  constructor(monotonicMs: () => number = (): number => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  now(): number {
    return this.#monotonicMs();
  }

  /** A read index that was asked for at `askedAt` told `revision`; the cache is at `seen`. */
  told(revision: number, { askedAt, seen }: { readonly askedAt: number; readonly seen: number }): void {
    if (revision >= this.#toldRevision) {
      this.#toldRevision = revision;
      this.#toldAt = Math.max(this.#toldAt, askedAt);
    }
    if (seen >= revision) this.#confirmedAt = Math.max(this.#confirmedAt, askedAt);
  }

  /** The cache has come to this revision. */
  seen(revision: number): void {
    if (revision >= this.#toldRevision) this.#confirmedAt = Math.max(this.#confirmedAt, this.#toldAt);
  }

  /** What was known is about another state. */
  forget(): void {
    this.#toldRevision = 0;
    this.#toldAt = -Infinity;
    this.#confirmedAt = -Infinity;
  }

  /** Whether everything that was acknowledged so many milliseconds ago is certainly in the cache. */
  isWithin(ms: number): boolean {
    return this.#monotonicMs() - this.#confirmedAt <= ms;
  }
}
