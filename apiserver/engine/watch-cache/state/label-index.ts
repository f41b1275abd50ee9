import type { Entry } from './entry';
import { Slices } from '../../../../shared/concurrency/slices';

/** The objects to index. */
export interface Indexed {
  readonly size: number;
  get(key: string): Entry | undefined;
  /** The current objects, as a snapshot: they do not change during the iteration. */
  entries(): Iterable<Entry>;
}

/** Fewer objects are scanned without an index. */
const OBJECTS_MIN = 1_000;
/** A value with more objects than these bounds is not looked up in the index: its keys would have to be sorted in one step. */
const SELECTIVE_PART = 1 / 8;
const FOUND_KEYS_MAX = 2_000;
const LABELS_MAX = 4;
/** An unused index is dropped after this time. */
const IDLE_MS_MAX = 10 * 60_000;

/**
 * Indexes the objects of one resource by label value. An index is created when a list first selects by its label: it is built in time
 * slices, then kept up to date, and dropped when idle. It covers the newest state only. At most four labels are indexed.
 */
export class LabelIndexes {
  readonly #objects: Indexed;
  readonly #indexes = new Map<string, LabelIndex>();
  #isClosed = false;

  constructor(objects: Indexed) {
    this.#objects = objects;
  }

  /**
   * The keys of all objects with the most selective of these label values, unordered. Undefined when a scan is cheaper, or no index is
   * complete yet. `now` is in milliseconds since the epoch.
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

  /** Must be called for every change, in the same step in which the objects change. */
  apply(current: Entry | undefined, previous: Entry | undefined): void {
    for (const index of this.#indexes.values()) index.apply(current, previous);
  }

  /** Drops idle indexes. */
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

  /** `apply` adds the changes made during the build, so only objects that have not changed since are added here. */
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

/** Keys by the value of one label. Many values belong to one object only, so a single key needs no set. */
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
