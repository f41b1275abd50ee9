import type { StoredRecord, StoreEvent } from '../../backend';

/** An event with the record before it. */
export type Change = StoreEvent & { readonly previous?: StoredRecord };

/** How many revisions beyond its limit a history may have, so that old ones are dropped in batches. */
const SLACK = 1.25;

/** The last revisions of a store in memory, each with all its changes. */
export class MemoryHistory {
  /** The newest revision without changes here. */
  floor: number;
  /** `#changes[i]` is revision floor + i + 1. */
  #changes: (readonly Change[])[] = [];
  readonly #revisionsMax: number;

  constructor(floor: number, revisionsMax = Infinity) {
    this.floor = floor;
    this.#revisionsMax = revisionsMax;
  }

  get newest(): number {
    return this.floor + this.#changes.length;
  }

  /** Adds the changes of the next revision. */
  push(changes: readonly Change[]): void {
    this.#changes.push(changes);
    if (this.#changes.length <= this.#revisionsMax * SLACK) return;
    const dropped = this.#changes.length - this.#revisionsMax;
    this.#changes = this.#changes.slice(dropped);
    this.floor += dropped;
  }

  /** The changes of one revision above the floor. */
  at(revision: number): readonly Change[] {
    return this.#changes[revision - this.floor - 1] ?? [];
  }

  /** For every key that changed after `revision`: its record at that revision, undefined if there was none. */
  undoTo(revision: number): ReadonlyMap<string, StoredRecord | undefined> {
    const before = new Map<string, StoredRecord | undefined>();
    for (let at = this.newest; at > revision; at -= 1)
      for (const { key, previous } of this.at(at)) before.set(key, previous);
    return before;
  }
}
