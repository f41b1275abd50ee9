/**
 * A set of fields in the form in which `managedFields` stores it (FieldsV1): a tree whose keys are path elements (`f:name`, `k:{…}`,
 * `v:…`, `i:0`). A node is in the set when it is empty or has the key `.`; the root stands for the whole object and is never in it,
 * so an empty root is the empty set. Trees are frozen: operations share what they leave alone, and return their first argument itself
 * when nothing changed. Keys of one node are sorted, which makes the JSON of a set its canonical text.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

export const EMPTY_SET: FieldSet = Object.freeze({});

/** A node that is in the set and has nothing below it. */
export const LEAF: FieldSet = EMPTY_SET;

/** The key that puts a node with children into the set. */
export const SELF = '.';

/** Operations that build sets collect nodes in this. */
export type FieldSetBuilder = Record<string, FieldSet>;

export function isEmptySet(set: FieldSet): boolean {
  if (set === EMPTY_SET) return true;
  if (largeNodes.has(set)) return false;
  for (const _key in set) return false;
  return true;
}

/** The loop above takes as long as a large node has keys: V8 lists them all before it gives the first one. */
const largeNodes = new WeakSet<FieldSet>();
const LARGE_NODE_KEYS = 200;

/** Makes it cheap to compare this set with very many others: of its large nodes it is remembered that they are not empty. */
export function rememberLargeNodes(node: FieldSet): void {
  let keys = 0;
  for (const key in node) {
    keys += 1;
    rememberLargeNodes(node[key] ?? LEAF);
  }
  if (keys >= LARGE_NODE_KEYS) largeNodes.add(node);
}

/** True when a node below the root is in the set itself. */
export function isMember(node: FieldSet): boolean {
  return node[SELF] !== undefined || isEmptySet(node);
}

/** True when the set has the node at this path. */
export function hasPath(set: FieldSet, path: readonly string[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (node === undefined) return false;
  }
  return path.length > 0 && isMember(node);
}

/** Both sets must be canonical. */
export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  let keys = 0;
  for (const key in a) {
    const other = b[key];
    if (other === undefined || !equalSets(a[key] ?? LEAF, other)) return false;
    keys += 1;
  }
  for (const _key in b) keys -= 1;
  return keys === 0;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a;
  return isEmptySet(a) ? b : mergeChildren(a, b);
}

/** The union of two nodes below the root, which say by themselves whether they are members. */
export function unionNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (isEmptySet(b)) return isMember(a) ? a : withSelf(a);
  if (isEmptySet(a)) return isMember(b) ? b : withSelf(b);
  return mergeChildren(a, b);
}

function mergeChildren(a: FieldSet, b: FieldSet): FieldSet {
  let result: FieldSetBuilder | undefined;
  let added = false;
  for (const key in b) {
    const mine = a[key];
    const other = b[key] ?? LEAF;
    const joined = mine === undefined ? other : unionNodes(mine, other);
    if (joined === mine) continue;
    result ??= { ...a };
    result[key] = joined;
    added ||= mine === undefined;
  }
  if (result === undefined) return a;
  return added ? sorted(result) : result;
}

/** The union of many sets, in time that grows little more than with their size: neighbours are joined, then those pairs. */
export function unionOfAll(sets: readonly FieldSet[]): FieldSet {
  if (sets.length <= 2) return union(sets[0] ?? EMPTY_SET, sets[1] ?? EMPTY_SET);
  const half = Math.ceil(sets.length / 2);
  return union(unionOfAll(sets.slice(0, half)), unionOfAll(sets.slice(half)));
}

/** What is in `a` and not in `b`. A node of `b` takes only itself away, not what is below it. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, false) ?? EMPTY_SET;
}

/** The same, but a node of `b` also takes away everything below it. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, true) ?? EMPTY_SET;
}

/** Children of `a` without those of `b`; undefined when none is left. The nodes themselves are the caller's. */
function subtract(a: FieldSet, b: FieldSet, deep: boolean): FieldSet | undefined {
  let isChanged = false;
  let result: FieldSetBuilder | undefined;
  for (const key in a) {
    const mine = a[key] ?? LEAF;
    const other = key === SELF ? undefined : b[key];
    const left = other === undefined ? mine : subtractNode(mine, other, deep);
    if (!isChanged) {
      if (left === mine) continue;
      isChanged = true;
      result = childrenBefore(a, key);
    }
    if (left !== undefined) (result ??= {})[key] = left;
  }
  return isChanged ? result : a;
}

/** A copy of the node without this child and those behind it; undefined for one without children. */
export function childrenBefore(node: FieldSet, end: string): FieldSetBuilder | undefined {
  let result: FieldSetBuilder | undefined;
  for (const key in node) {
    if (key === end) break;
    (result ??= {})[key] = node[key] ?? LEAF;
  }
  return result;
}

function subtractNode(a: FieldSet, b: FieldSet, deep: boolean): FieldSet | undefined {
  const loses = isMember(b);
  if (loses && deep) return undefined;
  if (isEmptySet(a)) return loses ? undefined : a;
  const left = subtract(a, b, deep);
  if (left === undefined) return undefined;
  if (left[SELF] === undefined) return left;
  const { [SELF]: _self, ...children } = left;
  if (isEmptySet(children)) return loses ? undefined : LEAF;
  return loses ? children : left;
}

/** What is in both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return a === b ? a : (intersectChildren(a, b) ?? EMPTY_SET);
}

function intersectChildren(a: FieldSet, b: FieldSet): FieldSet | undefined {
  let result: FieldSetBuilder | undefined;
  for (const key in a) {
    const other = b[key];
    if (other === undefined || key === SELF) continue;
    const both = intersectNodes(a[key] ?? LEAF, other);
    if (both === undefined) continue;
    result ??= {};
    result[key] = both;
  }
  return result;
}

function intersectNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (a === b) return a;
  const member = isMember(a) && isMember(b);
  const children = intersectChildren(a, b);
  if (children === undefined) return member ? LEAF : undefined;
  return member ? withSelf(children) : children;
}

/** A node with these children that is itself in the set. */
export function withSelf(children: FieldSet): FieldSet {
  return children[SELF] === undefined && !isEmptySet(children) ? { [SELF]: LEAF, ...children } : children;
}

/** The same node with its keys in the canonical order; path elements are never integer-like, so insertion order holds. */
export function sorted(node: FieldSet): FieldSet {
  const keys = Object.keys(node);
  for (let index = 1; index < keys.length; index += 1) {
    if ((keys[index - 1] ?? '') > (keys[index] ?? '')) {
      const result: FieldSetBuilder = {};
      for (const key of keys.sort()) result[key] = node[key] ?? LEAF;
      return result;
    }
  }
  return node;
}

/** The paths of all members in the order in which upstream goes through them: those of a level, then what lies below them. */
export function pathsOf(set: FieldSet): readonly (readonly string[])[] {
  const paths: (readonly string[])[] = [];
  collect(set, [], paths);
  return paths;
}

function collect(node: FieldSet, path: readonly string[], paths: (readonly string[])[]): void {
  for (const key in node) {
    if (key === SELF) continue;
    if (isMember(node[key] ?? LEAF)) paths.push([...path, key]);
  }
  for (const key in node) {
    const child = node[key] ?? LEAF;
    if (key !== SELF && !isEmptySet(child)) collect(child, [...path, key], paths);
  }
}

/** A set of the given paths. */
export function setOf(...paths: readonly (readonly string[])[]): FieldSet {
  return unionOfAll(
    paths.map((path) => path.reduceRight<FieldSet>((below, element) => ({ [element]: below }), LEAF)),
  );
}
