import type { Entry } from './entry';
import type { ObjectTree } from './object-tree';

/** The state of one resource at one revision. It never changes. */
export class Snapshot {
  /** The store's revision whose state this is; the resource itself may have changed last at an earlier one. */
  readonly revision: number;
  readonly #tree: ObjectTree;

  constructor(revision: number, tree: ObjectTree) {
    this.revision = revision;
    this.#tree = tree;
  }

  /** The number of objects. */
  get size(): number {
    return this.#tree.size;
  }

  /** By key relative to the resource: `<namespace>/<name>` or `<name>`. */
  get(key: string): Entry | undefined {
    return this.#tree.get(key);
  }

  /** Entries in the order of their keys' UTF-8 bytes, from `from` (inclusive) to `to` (exclusive). */
  entries(from?: string, to?: string): IterableIterator<Entry> {
    return this.#tree.entries(from, to);
  }

  /** The number of objects whose keys lie in that range. */
  count(from?: string, to?: string): number {
    return this.#tree.count(from, to);
  }

  /** The entries of one namespace in key order. */
  entriesOf(namespace: string): IterableIterator<Entry> {
    return this.#tree.entries(...namespaceRange(namespace));
  }

  /** Entries whose field has this value, in key order; from an index where the field has one, else by looking at all. */
  byField(path: string, value: string): IterableIterator<Entry> {
    return this.#tree.byField(path, value);
  }

  hasIndex(path: string): boolean {
    return this.#tree.hasIndex(path);
  }

  /** The same objects as the state of a later revision, up to which nothing changed. */
  at(revision: number): Snapshot {
    return new Snapshot(revision, this.#tree);
  }

  /** Whether it is a state of the objects that this tree holds now, not of those before the cache was built anew. */
  isOf(tree: ObjectTree): boolean {
    return this.#tree.isRelated(tree);
  }
}

/** The keys of a namespace begin with `<namespace>/`; `0` is the character behind `/`. */
export function namespaceRange(namespace: string): [from: string, to: string] {
  return [`${namespace}/`, `${namespace}0`];
}
