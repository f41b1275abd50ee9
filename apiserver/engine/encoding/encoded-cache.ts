/** Size limit of all caches of encodings in the process together. */
const ENCODED_BYTES_MAX = 128 * 1024 * 1024;

/** A cache with two generations. */
interface Aging {
  age(): void;
}

/**
 * Counts the size of caches. They have two generations: when the young one has grown to half of the budget, the old
 * one is dropped and the young one takes its place. An evicted entry takes its encodings with it at once; the count
 * is then too high, never too low.
 */
export class EncodedBudget {
  readonly #generationBytesMax: number;
  readonly #caches: Aging[] = [];
  #youngBytes = 0;

  constructor(bytesMax: number) {
    this.#generationBytesMax = Math.floor(bytesMax / 2);
  }

  /** Registers a cache, which is notified when a generation ends. Caches live as long as the budget. */
  add(cache: Aging): void {
    this.#caches.push(cache);
  }

  charge(bytes: number): void {
    this.#youngBytes += bytes;
    if (this.#youngBytes <= this.#generationBytesMax) return;
    this.#youngBytes = bytes;
    for (const cache of this.#caches) cache.age();
  }
}

type Generation<T> = Map<string, WeakMap<object, T>>;

/** Caches values by entry and id of the encoding, within the budget. */
export class EncodedCache<T> {
  readonly #budget: EncodedBudget;
  readonly #bytesOf: (value: T) => number;
  #young: Generation<T> = new Map();
  #old: Generation<T> = new Map();
  /** Number of computed values, for tests and measurements. */
  made = 0;

  constructor(budget: EncodedBudget, bytesOf: (value: T) => number) {
    this.#budget = budget;
    this.#bytesOf = bytesOf;
    budget.add(this);
  }

  /** Returns the cached value of the entry under this id, or computes it. */
  get(entry: object, id: string, make: () => T): T {
    const young = this.#young.get(id)?.get(entry);
    if (young !== undefined) return young;
    const old = this.#old.get(id)?.get(entry);
    if (old === undefined) this.made += 1;
    const value = old ?? make();
    this.#budget.charge(this.#bytesOf(value));
    const entries = this.#young.get(id) ?? new WeakMap<object, T>();
    this.#young.set(id, entries.set(entry, value));
    return value;
  }

  /** Returns the cached value of the entry under this id, if there is one. */
  peek(entry: object, id: string): T | undefined {
    return this.#young.get(id)?.get(entry) ?? this.#old.get(id)?.get(entry);
  }

  age(): void {
    this.#old = this.#young;
    this.#young = new Map();
  }
}

/** The budget of the process. Servers can share it because keys are entries, which belong to one server. */
export const PROCESS_BUDGET = new EncodedBudget(ENCODED_BYTES_MAX);
/** Approximate size of a number in a map. */
const NUMBER_BYTES = 48;
/** The lengths of the metadata of objects. */
export const METADATA_ENDS = new EncodedCache<number>(PROCESS_BUDGET, () => NUMBER_BYTES);
/** Encodings of single objects. */
export const ENCODED_OBJECTS = new EncodedCache<Buffer>(PROCESS_BUDGET, (bytes) => bytes.length);
