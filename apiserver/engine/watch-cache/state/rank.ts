import type BTree from 'sorted-btree';

/**
 * How many keys of the tree come before `key`. Takes logarithmic time: every node of the tree knows how many keys are below it, while the
 * tree's own count visits every leaf. The nodes are internal to the library, so a test compares the two.
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
  /** Of a leaf; of an inner node the largest key below each of its children. */
  readonly keys: readonly string[];
  /** Absent in a leaf. */
  readonly children?: readonly Node[];
  size(): number;
}

/** The index of the first key that does not come before `key`. */
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
