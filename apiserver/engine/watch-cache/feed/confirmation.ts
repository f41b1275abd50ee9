/**
 * Tracks when the cache was last proved to be as fresh as the store: a read index returned a revision that the cache has applied. Without
 * this proof, a stalled feed cannot be distinguished from an idle store.
 */
export class Confirmation {
  readonly #monotonicMs: () => number;
  #readIndexRevision = 0;
  /** That read index was requested at this time or later. */
  #readIndexAt = -Infinity;
  #confirmedAt = -Infinity;

  constructor(monotonicMs: () => number = (): number => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  now(): number {
    return this.#monotonicMs();
  }

  /** Call it when a read index requested at `requestedAt` returned `revision` while the cache was at `seen`. */
  noteReadIndex(
    revision: number,
    { requestedAt, seen }: { readonly requestedAt: number; readonly seen: number },
  ): void {
    if (revision >= this.#readIndexRevision) {
      this.#readIndexRevision = revision;
      this.#readIndexAt = Math.max(this.#readIndexAt, requestedAt);
    }
    if (seen >= revision) this.#confirmedAt = Math.max(this.#confirmedAt, requestedAt);
  }

  /** Call it when the cache has applied this revision. */
  noteApplied(revision: number): void {
    if (revision >= this.#readIndexRevision)
      this.#confirmedAt = Math.max(this.#confirmedAt, this.#readIndexAt);
  }

  /** Resets it when the state is discarded. */
  forget(): void {
    this.#readIndexRevision = 0;
    this.#readIndexAt = -Infinity;
    this.#confirmedAt = -Infinity;
  }

  /** Whether the cache provably holds every write acknowledged `ms` milliseconds ago. */
  isWithin(ms: number): boolean {
    return this.#monotonicMs() - this.#confirmedAt <= ms;
  }
}
