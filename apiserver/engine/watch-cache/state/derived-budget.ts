/** An object that caches encodings which can be recomputed. */
export interface DerivedHolder {
  /** Drops all encodings. */
  dropDerived(): void;
}

/** Counts the bytes of cached encodings and evicts those of the oldest holder first when they exceed the budget. */
export class DerivedBudget {
  readonly #bytesMax: number;
  /** In the order of each holder's first encoding. */
  readonly #bytesOf = new Map<DerivedHolder, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds `bytes` to those of `holder`. May evict its encodings, including the new ones, before it returns. */
  charge(holder: DerivedHolder, bytes: number): void {
    this.#bytesOf.set(holder, (this.#bytesOf.get(holder) ?? 0) + bytes);
    this.#bytes += bytes;
    while (this.#bytes > this.#bytesMax) {
      const [oldest] = this.#bytesOf.keys();
      if (oldest === undefined) return;
      this.release(oldest);
    }
  }

  /** Drops the encodings of `holder`. */
  release(holder: DerivedHolder): void {
    const bytes = this.#bytesOf.get(holder);
    if (bytes === undefined) return;
    this.#bytesOf.delete(holder);
    this.#bytes -= bytes;
    holder.dropDerived();
  }
}
