/** Something that keeps encodings which can be made again. */
export interface DerivedHolder {
  /** Forgets all encodings. */
  dropDerived(): void;
}

/** Counts the bytes of encodings made on demand and drops those of the oldest holder first when they exceed the budget. */
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

  /** `holder` now keeps so many bytes more. It may be asked to drop them, these included, before this returns. */
  charge(holder: DerivedHolder, bytes: number): void {
    this.#bytesOf.set(holder, (this.#bytesOf.get(holder) ?? 0) + bytes);
    this.#bytes += bytes;
    while (this.#bytes > this.#bytesMax) {
      const [oldest] = this.#bytesOf.keys();
      if (oldest === undefined) return;
      this.release(oldest);
    }
  }

  /** Makes `holder` forget its encodings. */
  release(holder: DerivedHolder): void {
    const bytes = this.#bytesOf.get(holder);
    if (bytes === undefined) return;
    this.#bytesOf.delete(holder);
    this.#bytes -= bytes;
    holder.dropDerived();
  }
}
