interface Sized<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/** A map whose entries come to at most so many bytes: the oldest make room, and what is larger than all of it is not kept. */
export class ByteBoundedMap<Value> {
  readonly #bytesMax: number;
  /** The oldest first. */
  readonly #entries = new Map<string, Sized<Value>>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Sets an entry of so many bytes as the newest. */
  set(key: string, value: Value, bytes: number): void {
    this.delete(key);
    if (bytes > this.#bytesMax) return;
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const [oldest] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) return;
      this.delete(oldest);
    }
  }

  /** Makes an entry the newest. */
  touch(key: string): void {
    const found = this.#entries.get(key);
    if (found === undefined) return;
    this.#entries.delete(key);
    this.#entries.set(key, found);
  }

  delete(key: string): void {
    const found = this.#entries.get(key);
    if (found === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= found.bytes;
  }
}
