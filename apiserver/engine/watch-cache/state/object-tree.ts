import type BTree from 'sorted-btree';
import type { Entry } from './entry';
import { KeyOrder } from './key-order';

/**
 * The objects of one resource in key order, with one more tree per indexed field. All trees are copy-on-write: a clone takes constant
 * time and shares all nodes that neither side changes later.
 */
export class ObjectTree {
  readonly #order: KeyOrder;
  readonly #objects: BTree<string, Entry>;
  /** Per indexed field: `<value>\0<key>` to entry. */
  readonly #indexes: ReadonlyMap<string, BTree<string, Entry>>;

  private constructor(
    order: KeyOrder,
    objects: BTree<string, Entry>,
    indexes: ReadonlyMap<string, BTree<string, Entry>>,
  ) {
    this.#order = order;
    this.#objects = objects;
    this.#indexes = indexes;
  }

  static create(indexedFields: readonly string[]): ObjectTree {
    const order = new KeyOrder();
    const indexes = new Map(indexedFields.map((path) => [path, order.createTree<Entry>()]));
    return new ObjectTree(order, order.createTree<Entry>(), indexes);
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): Entry | undefined {
    return this.#objects.get(key);
  }

  set(entry: Entry, previous: Entry | undefined): void {
    this.#order.admit(entry.key);
    this.#objects.set(entry.key, entry);
    for (const [path, index] of this.#indexes) {
      const value = entry.fields[path] ?? '';
      const before = previous?.fields[path];
      if (before !== undefined && before !== value) index.delete(indexKey(before, entry.key));
      this.#order.admit(value);
      index.set(indexKey(value, entry.key), entry);
    }
  }

  delete(entry: Entry): void {
    this.#objects.delete(entry.key);
    for (const [path, index] of this.#indexes) index.delete(indexKey(entry.fields[path] ?? '', entry.key));
  }

  clone(): ObjectTree {
    const indexes = new Map([...this.#indexes].map(([path, index]) => [path, index.clone()]));
    return new ObjectTree(this.#order, this.#objects.clone(), indexes);
  }

  /** Whether both are clones of the same tree, directly or indirectly. */
  isRelated(other: ObjectTree): boolean {
    return this.#order === other.#order;
  }

  /** Entries in key order from `from` (inclusive) to `to` (exclusive). The tree must not change meanwhile. */
  *entries(from?: string, to?: string): IterableIterator<Entry> {
    // The iterator reuses this array for each step.
    const pair: (string | Entry)[] = [];
    for (const [key, entry] of this.#objects.entries(from, pair)) {
      if (to !== undefined && this.#order.compare(key, to) >= 0) return;
      yield entry;
    }
  }

  /** The number of keys from `from` (inclusive) to `to` (exclusive). */
  count(from?: string, to?: string): number {
    const before = from === undefined ? 0 : rankOf(this.#objects, from, this.#order.compare);
    const through = to === undefined ? this.size : rankOf(this.#objects, to, this.#order.compare);
    return Math.max(0, through - before);
  }

  hasIndex(path: string): boolean {
    return this.#indexes.has(path);
  }

  /**
   * The entries whose field has this value, in key order, from the index of the field or else by a scan. The tree must not change
   * meanwhile.
   */
  *byField(path: string, value: string): IterableIterator<Entry> {
    const index = this.#indexes.get(path);
    if (index === undefined) {
      for (const entry of this.entries()) if (entry.fields[path] === value) yield entry;
      return;
    }
    const from = indexKey(value, '');
    for (const [key, entry] of index.entries(from)) {
      if (!key.startsWith(from)) return;
      // A value that contains a NUL could fall into the range of another value.
      if (entry.fields[path] === value) yield entry;
    }
  }
}

function indexKey(value: string, key: string): string {
  return `${value}\0${key}`;
}

/**
 * The number of keys of the tree before `key`, in logarithmic time: every node knows the number of keys below it. The tree's own count
 * visits every leaf. The nodes are internal to the library, so a test compares both.
 */
export function rankOf(tree: BTree<string, unknown>, key: string, compare: Compare): number {
  let rank = 0;
  let node: Node | undefined = (tree as unknown as { readonly _root: Node })._root;
  while (node?.children !== undefined) {
    const at = lowerBound(node.keys, key, compare);
    for (let before = 0; before < at; before += 1) rank += node.children[before]?.size() ?? 0;
    node = node.children[at];
  }
  return node === undefined ? rank : rank + lowerBound(node.keys, key, compare);
}

type Compare = (a: string, b: string) => number;

interface Node {
  /** The keys of a leaf; in an inner node, the largest key below each child. */
  readonly keys: readonly string[];
  /** Absent in a leaf. */
  readonly children?: readonly Node[];
  size(): number;
}

/** The index of the first key that is not before `key`. */
function lowerBound(keys: readonly string[], key: string, compare: Compare): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(keys[middle] ?? '', key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
