/**
 * A set of fields in the form that `managedFields` stores (FieldsV1): a tree whose keys are path elements
 * (`f:name`, `k:{…}`, `v:…`, `i:0`). A node is a member when it is empty or has the key `.`. The root stands
 * for the whole object and is never a member, so an empty root is the empty set. Trees are frozen: operations
 * share unchanged parts, and return their first argument when nothing changed. Keys of a node are sorted,
 * which makes the JSON of a set canonical.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

export const EMPTY_SET: FieldSet = Object.freeze({});

/** A member without children. */
export const LEAF: FieldSet = EMPTY_SET;

/** The key that makes a node with children a member. */
export const SELF = '.';

/** A node under construction. */
export type FieldSetBuilder = Record<string, FieldSet>;

export function isEmptySet(set: FieldSet): boolean {
  if (set === EMPTY_SET) return true;
  if (largeNodes.has(set)) return false;
  for (const _key in set) return false;
  return true;
}

/**
 * Large nodes that are known to be non-empty. V8 lists all keys of an object before a loop gets the first one.
 */
const largeNodes = new WeakSet<FieldSet>();
const LARGE_NODE_KEYS = 200;

/** Remembers the large nodes of a set as non-empty, which makes comparing it with many others cheap. */
export function rememberLargeNodes(node: FieldSet): void {
  let keys = 0;
  for (const key in node) {
    keys += 1;
    rememberLargeNodes(node[key] ?? LEAF);
  }
  if (keys >= LARGE_NODE_KEYS) largeNodes.add(node);
}

/** True when a node below the root is a member. */
export function isMember(node: FieldSet): boolean {
  return node[SELF] !== undefined || isEmptySet(node);
}

/** True when the set contains the path. */
export function hasPath(set: FieldSet, path: readonly string[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (node === undefined) return false;
  }
  return path.length > 0 && isMember(node);
}

/** True when two canonical sets are equal. */
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

/** Returns the union of two nodes below the root, which say themselves whether they are members. */
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

/**
 * Returns the union of many sets. It joins neighbours pairwise, so that the time is nearly linear in the size.
 */
export function unionAll(sets: readonly FieldSet[]): FieldSet {
  if (sets.length <= 2) return union(sets[0] ?? EMPTY_SET, sets[1] ?? EMPTY_SET);
  const half = Math.ceil(sets.length / 2);
  return union(unionAll(sets.slice(0, half)), unionAll(sets.slice(half)));
}

/** Returns the members of `a` that are not in `b`. A member of `b` does not remove what is below it. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, false) ?? EMPTY_SET;
}

/** Returns `a` without the members of `b` and everything below them. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, true) ?? EMPTY_SET;
}

/**
 * Returns the children of `a` without those of `b`; undefined when none is left. The caller handles the nodes
 * themselves.
 */
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

/** Copies the node's children before `end`; undefined for a node without children. */
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

/** Returns the members of both sets. */
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

/** Returns a node with these children that is a member itself. */
export function withSelf(children: FieldSet): FieldSet {
  return children[SELF] === undefined && !isEmptySet(children) ? { [SELF]: LEAF, ...children } : children;
}

/** Returns the node with sorted keys. Path elements are never integer-like, so insertion order holds. */
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

/** Returns the paths of all members in upstream's order: those of one level before those below them. */
export function listPaths(set: FieldSet): readonly (readonly string[])[] {
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

/** Returns the set of the given paths. */
export function createSet(...paths: readonly (readonly string[])[]): FieldSet {
  return unionAll(
    paths.map((path) => path.reduceRight<FieldSet>((below, element) => ({ [element]: below }), LEAF)),
  );
}
