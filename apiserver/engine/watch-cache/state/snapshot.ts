import type { Entry } from './entry';
import type { ObjectTree } from './object-tree';

/** The immutable state of one resource at one revision. */
export class Snapshot {
  /** The revision of the store; the last change of the resource may be older. */
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

  /** The number of objects in that range of keys. */
  count(from?: string, to?: string): number {
    return this.#tree.count(from, to);
  }

  /** The entries of one namespace in key order. */
  entriesOf(namespace: string): IterableIterator<Entry> {
    return this.#tree.entries(...namespaceRange(namespace));
  }

  /** Entries whose field has this value, in key order, from the index of the field or else by a scan. */
  byField(path: string, value: string): IterableIterator<Entry> {
    return this.#tree.byField(path, value);
  }

  hasIndex(path: string): boolean {
    return this.#tree.hasIndex(path);
  }

  /** The same state at a later revision, up to which nothing changed. */
  at(revision: number): Snapshot {
    return new Snapshot(revision, this.#tree);
  }

  /** Whether the snapshot was taken of this tree, and not before a rebuild. */
  isOf(tree: ObjectTree): boolean {
    return this.#tree.isRelated(tree);
  }
}

/** The keys of a namespace begin with `<namespace>/`; `0` is the character after `/`. */
export function namespaceRange(namespace: string): [from: string, to: string] {
  return [`${namespace}/`, `${namespace}0`];
}
