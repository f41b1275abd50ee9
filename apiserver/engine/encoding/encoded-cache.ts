/** Bytes of encodings that are kept, in all caches of the process together. */
const ENCODED_BYTES_MAX = 128 * 1024 * 1024;

/** Something that forgets its older half when told. */
interface Aging {
  age(): void;
}

/**
 * Counts what caches keep. There are two generations: when the young one has grown to half of the budget, the old one is dropped and the
 * young one becomes it. An entry that goes away takes its encodings with it at once; the count is then too high, never too low.
 */
export class EncodedBudget {
  readonly #generationBytesMax: number;
  readonly #caches: Aging[] = [];
  #youngBytes = 0;

  constructor(bytesMax: number) {
    this.#generationBytesMax = Math.floor(bytesMax / 2);
  }

  /** Every cache of the budget is told when a generation ends. Caches live as long as the budget. */
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

/** Keeps what was made of an entry, by the id of the encoding, within the budget. */
export class EncodedCache<T> {
  readonly #budget: EncodedBudget;
  readonly #bytesOf: (value: T) => number;
  #young: Generation<T> = new Map();
  #old: Generation<T> = new Map();
  /** How often something was made, for tests and measurements. */
  made = 0;

  constructor(budget: EncodedBudget, bytesOf: (value: T) => number) {
    this.#budget = budget;
    this.#bytesOf = bytesOf;
    budget.add(this);
  }

  /** What `make` made of this entry under this id, made now if it is not there. */
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

  /** What was made of this entry under this id, if it is still there. */
  peek(entry: object, id: string): T | undefined {
    return this.#young.get(id)?.get(entry) ?? this.#old.get(id)?.get(entry);
  }

  age(): void {
    this.#old = this.#young;
    this.#young = new Map();
  }
}

/** The budget of this process: entries of several caches may share it, because their entries tell them apart. */
export const PROCESS_BUDGET = new EncodedBudget(ENCODED_BYTES_MAX);
/** About what a number in a map takes. */
const NUMBER_BYTES = 48;
/** Where the metadata of single objects ends. */
export const METADATA_ENDS = new EncodedCache<number>(PROCESS_BUDGET, () => NUMBER_BYTES);
/** Encodings of single objects. */
export const ENCODED_OBJECTS = new EncodedCache<Buffer>(PROCESS_BUDGET, (bytes) => bytes.length);
