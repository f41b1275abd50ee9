import type { Entry } from './entry';
import { Slices } from '../../../../shared/concurrency/slices';

/** Where an index finds what there is to index. */
export interface Indexed {
  readonly size: number;
  get(key: string): Entry | undefined;
  /** The objects of this moment; they do not change while they are iterated. */
  entries(): Iterable<Entry>;
}

/** Fewer objects are looked through faster than an index pays. */
const OBJECTS_MIN = 1_000;
/** A value that more than this part of all objects has, or more objects than this, is not worth sorting its keys in one go. */
const SELECTIVE_PART = 1 / 8;
const FOUND_KEYS_MAX = 2_000;
const LABELS_MAX = 4;
/** An index that nobody asked for so long is given up. */
const IDLE_MS_MAX = 10 * 60_000;

/**
 * Finds the objects of one resource by the value of a label. Which labels are asked for only readers know, so an index is made when a
 * list first asks for its label, in slices beside everything else, kept up to date from then on, and given up when it is idle. It
 * knows the newest state alone. At most four labels are indexed.
 */
export class LabelIndexes {
  readonly #objects: Indexed;
  readonly #indexes = new Map<string, LabelIndex>();
  #isClosed = false;

  constructor(objects: Indexed) {
    this.#objects = objects;
  }

  /**
   * The keys of all objects that have one of these labels with its value, of the label with the fewest; unordered. Undefined when
   * looking at all objects is the better way, or the only one yet. `now` is in milliseconds since the epoch.
   */
  find(
    equals: readonly (readonly [label: string, value: string])[],
    now: number,
  ): readonly string[] | undefined {
    const { size } = this.#objects;
    if (size < OBJECTS_MIN) return undefined;
    let best: readonly string[] | undefined;
    for (const [label, value] of equals) {
      const index = this.#indexes.get(label) ?? this.#make(label, now);
      if (index === undefined) continue;
      index.usedAt = now;
      if (!index.isComplete || index.count(value) > Math.min(size * SELECTIVE_PART, FOUND_KEYS_MAX)) continue;
      if (best === undefined || index.count(value) < best.length) best = index.keys(value);
    }
    return best;
  }

  /** Told of every change, in the same step in which the objects change. */
  apply(current: Entry | undefined, previous: Entry | undefined): void {
    for (const index of this.#indexes.values()) index.apply(current, previous);
  }

  /** Gives up what is idle. */
  trim(now: number): void {
    for (const [label, { usedAt }] of this.#indexes)
      if (now - usedAt > IDLE_MS_MAX) this.#indexes.delete(label);
  }

  close(): void {
    this.#isClosed = true;
    this.#indexes.clear();
  }

  #make(label: string, now: number): LabelIndex | undefined {
    if (this.#indexes.size >= LABELS_MAX || this.#isClosed) return undefined;
    const index = new LabelIndex(label, now);
    this.#indexes.set(label, index);
    void this.#fill(index);
    return index;
  }

  /** What changes meanwhile is told to the index by `apply`; here it gets the objects that are still what they were. */
  async #fill(index: LabelIndex): Promise<void> {
    const slices = new Slices();
    for (const entry of this.#objects.entries()) {
      if (this.#objects.get(entry.key) === entry) index.apply(entry, undefined);
      if (slices.due()) await slices.pause();
      if (this.#isClosed) return;
    }
    index.isComplete = true;
  }
}

/** Keys by the value of one label. Most values of some labels belong to one object, so a lone key needs no set. */
class LabelIndex {
  readonly #label: string;
  readonly #keys = new Map<string, string | Set<string>>();
  isComplete = false;
  usedAt: number;

  constructor(label: string, now: number) {
    this.#label = label;
    this.usedAt = now;
  }

  count(value: string): number {
    const found = this.#keys.get(value);
    if (found === undefined) return 0;
    return typeof found === 'string' ? 1 : found.size;
  }

  keys(value: string): readonly string[] {
    const found = this.#keys.get(value);
    if (found === undefined) return [];
    return typeof found === 'string' ? [found] : [...found];
  }

  apply(current: Entry | undefined, previous: Entry | undefined): void {
    const before = previous?.labels[this.#label];
    const now = current?.labels[this.#label];
    if (previous !== undefined && before !== undefined && before !== now) this.#remove(before, previous.key);
    if (current !== undefined && now !== undefined) this.#add(now, current.key);
  }

  #add(value: string, key: string): void {
    const found = this.#keys.get(value);
    if (found === undefined) this.#keys.set(value, key);
    else if (typeof found !== 'string') found.add(key);
    else if (found !== key) this.#keys.set(value, new Set([found, key]));
  }

  #remove(value: string, key: string): void {
    const found = this.#keys.get(value);
    if (found === key) this.#keys.delete(value);
    else if (typeof found === 'object' && found.delete(key) && found.size === 0) this.#keys.delete(value);
  }
}
