/** A set of revisions after a base with one bit each: 200,000 revisions are 25 KB. */
export class RevisionSet {
  readonly base: number;
  size = 0;
  newest = 0;
  #bits: Uint8Array;

  constructor(base: number, bits = new Uint8Array(INITIAL_BYTES)) {
    this.base = base;
    this.#bits = bits;
    for (const revision of this.members()) {
      this.size++;
      this.newest = revision;
    }
  }

  /** Adds a revision; returns whether it is new. Revisions up to the base are ignored and always new. */
  add(revision: number): boolean {
    const at = revision - this.base;
    if (!Number.isSafeInteger(at)) throw new RangeError(`not a revision: ${String(revision)}`);
    if (at <= 0) return true;
    if (at >> 3 >= this.#bits.length) this.#grow(at >> 3);
    if (this.has(revision)) return false;
    this.#bits[at >> 3] = (this.#bits[at >> 3] ?? 0) | (1 << (at & 7));
    this.size++;
    this.newest = Math.max(this.newest, revision);
    return true;
  }

  has(revision: number): boolean {
    const at = revision - this.base;
    return at > 0 && ((this.#bits[at >> 3] ?? 0) & (1 << (at & 7))) !== 0;
  }

  /** In ascending order. */
  *members(): Generator<number> {
    for (const [index, byte] of this.#bits.entries()) {
      if (byte === 0) continue;
      for (let bit = 0; bit < 8; bit++) if ((byte & (1 << bit)) !== 0) yield this.base + index * 8 + bit;
    }
  }

  toString(): string {
    return Buffer.from(this.#bits).toString('base64');
  }

  /** The inverse of `toString`. */
  static from(base: number, text: string): RevisionSet {
    return new RevisionSet(base, new Uint8Array(Buffer.from(text, 'base64')));
  }

  #grow(index: number): void {
    if (index >= BYTES_MAX) throw new RangeError('too many revisions for one run');
    const bits = new Uint8Array(Math.min(BYTES_MAX, Math.max(this.#bits.length * 2, index + 1)));
    bits.set(this.#bits);
    this.#bits = bits;
  }
}

const INITIAL_BYTES = 4 * 1024;
const BYTES_MAX = 4 * 1024 * 1024;
