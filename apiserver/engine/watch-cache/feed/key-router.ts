/** Maps absolute keys to values registered under relative prefixes such as `core/pods/`. */
export class KeyRouter<Value> {
  readonly #rootLength: number;
  readonly #root: string;
  readonly #byPrefix = new Map<string, Value>();
  /** The numbers of slashes in the registered prefixes, deepest first. */
  #depths: readonly number[] = [];

  /** `root` is absolute and ends with a slash. */
  constructor(root: string) {
    this.#root = root;
    this.#rootLength = root.length;
  }

  add(keyPrefix: string, value: Value): void {
    if (!keyPrefix.endsWith('/')) throw new Error(`the key prefix ${keyPrefix} lacks its trailing slash`);
    this.#byPrefix.set(keyPrefix, value);
    this.#measure();
  }

  remove(keyPrefix: string): void {
    this.#byPrefix.delete(keyPrefix);
    this.#measure();
  }

  get(keyPrefix: string): Value | undefined {
    return this.#byPrefix.get(keyPrefix);
  }

  values(): IterableIterator<Value> {
    return this.#byPrefix.values();
  }

  /** The value with the longest prefix of the key, and the key relative to it; undefined for a foreign key. */
  route(key: string): { readonly value: Value; readonly key: string } | undefined {
    if (!key.startsWith(this.#root)) return undefined;
    for (const depth of this.#depths) {
      let end = this.#rootLength;
      for (let slashes = 0; slashes < depth && end > 0; slashes += 1) end = key.indexOf('/', end) + 1;
      if (end === 0) continue;
      const value = this.#byPrefix.get(key.slice(this.#rootLength, end));
      if (value !== undefined) return { value, key: key.slice(end) };
    }
    return undefined;
  }

  #measure(): void {
    const depths = new Set([...this.#byPrefix.keys()].map((prefix) => prefix.split('/').length - 1));
    this.#depths = [...depths].sort((a, b) => b - a);
  }
}
