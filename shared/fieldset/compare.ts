import { deepEqual, isJsonObject } from '../object/clone';
import type { FieldSet, FieldSetBuilder } from './field-set';
import { EMPTY_SET, LEAF, recursiveDifference, sorted, SELF } from './field-set';
import { ownValue } from './own-value';
import { getItemElement, hasDistinctItems, isAligned, itemsByElement } from './items';
import { fieldElement } from './path-element';
import type { KeyedShape, ListShape, ObjectShape, Shape } from './shape';
import { DEDUCED_OBJECT, IGNORED_SHAPE } from './shape';
import type { ReadonlyJson } from '../object/json';

/** The fields that differ between two objects. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const NO_DIFFERENCE: Comparison = { added: EMPTY_SET, modified: EMPTY_SET, removed: EMPTY_SET };

/**
 * Compares two objects of one shape. Equal parts allocate nothing. An added or removed value counts with
 * everything in it. The order of items in keyed lists and sets does not count. Items that repeat a key are one
 * member without fields, which is added or removed when a key begins or ceases to be repeated.
 */
export function compareObjects(shape: ObjectShape, old: object, next: object): Comparison {
  return compareFields(shape, old as ReadonlyJson, next as ReadonlyJson) ?? NO_DIFFERENCE;
}

export function isNoDifference({ added, modified, removed }: Comparison): boolean {
  return added === EMPTY_SET && modified === EMPTY_SET && removed === EMPTY_SET;
}

/** Returns the comparison without `ignored` fields and everything below them. */
export function withoutFields(comparison: Comparison, ignored: FieldSet): Comparison {
  return {
    added: recursiveDifference(comparison.added, ignored),
    modified: recursiveDifference(comparison.modified, ignored),
    removed: recursiveDifference(comparison.removed, ignored),
  };
}

const NOTHING: ReadonlyJson = {};

/** Differences below one node, as its children, or `LEAF` for the node itself. */
interface Difference {
  added?: FieldSet;
  modified?: FieldSet;
  removed?: FieldSet;
}

const MODIFIED: Difference = { modified: LEAF };

/** Compares two present values, which may be null. Returns undefined when they do not differ. */
function compareValues(shape: Shape, old: unknown, next: unknown): Difference | undefined {
  if (old === next) return undefined;
  switch (shape.kind) {
    case 'ignored':
      return undefined;
    case 'leaf':
      return deepEqual(old, next) ? undefined : MODIFIED;
    case 'deduced':
      if (!isJsonObject(old) && !isJsonObject(next)) return deepEqual(old, next) ? undefined : MODIFIED;
      return compareContainers(DEDUCED_OBJECT, old, next);
    case 'object':
      return compareContainers(shape, old, next);
    case 'set':
    case 'keyed':
    default:
      return compareLists(shape, old, next);
  }
}

/** Compares two empty values as atomic, which distinguishes null from `{}`. */
function compareContainers(shape: ObjectShape, old: unknown, next: unknown): Difference | undefined {
  const before = isJsonObject(old) ? old : NOTHING;
  const after = isJsonObject(next) ? next : NOTHING;
  if (isEmpty(before) && isEmpty(after)) return deepEqual(old, next) ? undefined : MODIFIED;
  const inside = compareFields(shape, before, after);
  const isScalar = (value: unknown): boolean => value !== null && !isJsonObject(value);
  return isScalar(old) || isScalar(next) ? { ...changesOf(inside), modified: LEAF } : changesOf(inside);
}

/** Returns the comparison with undefined in place of empty sets. */
function changesOf(inside: Comparison | undefined): Difference | undefined {
  if (inside === undefined) return undefined;
  const { added, modified, removed } = inside;
  const changes: Difference = {};
  if (added !== EMPTY_SET) changes.added = added;
  if (modified !== EMPTY_SET) changes.modified = modified;
  if (removed !== EMPTY_SET) changes.removed = removed;
  return changes;
}

function compareFields(shape: ObjectShape, old: ReadonlyJson, next: ReadonlyJson): Comparison | undefined {
  let changes: Changes | undefined;
  for (const key in old) {
    const before = old[key];
    const after = ownValue(next, key);
    if (before === after || before === undefined) continue;
    const each = childOf(shape, key);
    if (after === undefined) {
      const gone = wholeNode(each, before);
      if (gone !== undefined) (changes ??= new Changes()).remove(fieldElement(key), gone);
      continue;
    }
    const difference = compareValues(each, before, after);
    if (difference !== undefined) (changes ??= new Changes()).note(fieldElement(key), difference);
  }
  for (const key in next) {
    if (next[key] === undefined || ownValue(old, key) !== undefined) continue;
    const node = wholeNode(childOf(shape, key), next[key]);
    if (node !== undefined) (changes ??= new Changes()).add(fieldElement(key), node);
  }
  return changes?.result();
}

/** Returns the shape of a field. An undeclared field cannot be owned. */
function childOf(shape: ObjectShape, key: string): Shape {
  return shape.fields.get(key) ?? shape.others ?? IGNORED_SHAPE;
}

function compareLists(shape: ListShape, old: unknown, next: unknown): Difference | undefined {
  const before: readonly unknown[] = Array.isArray(old) ? old : [];
  const after: readonly unknown[] = Array.isArray(next) ? next : [];
  if (before.length === 0 && after.length === 0) return deepEqual(old, next) ? undefined : MODIFIED;
  if (isAligned(shape, before, after)) {
    if (shape.kind === 'set') return undefined;
    const inOrder = compareInOrder(shape, before, after);
    if (inOrder !== 'repeated') return changesOf(inOrder);
  }
  const oldItems = itemsByElement(shape, before);
  const nextItems = itemsByElement(shape, after);
  if (oldItems === undefined || nextItems === undefined) return deepEqual(old, next) ? undefined : MODIFIED;
  return changesOf(compareItems(shape, oldItems, nextItems));
}

/**
 * Compares lists with the same items in the same order, the common case. Path elements are only formatted
 * where items differ.
 */
function compareInOrder(
  shape: KeyedShape,
  old: readonly unknown[],
  next: readonly unknown[],
): Comparison | 'repeated' | undefined {
  let changes: Changes | undefined;
  for (let at = 0; at < old.length; at += 1) {
    const difference = compareValues(shape.element, old[at], next[at]);
    if (difference === undefined) continue;
    if (changes === undefined && !hasDistinctItems(shape, next)) return 'repeated';
    changes ??= new Changes();
    changes.note(elementOfObject(shape, next[at]), difference);
  }
  return changes?.result();
}

function elementOfObject(shape: KeyedShape, item: unknown): string {
  const named = getItemElement(shape, item);
  if (typeof named !== 'string')
    throw new Error(`an item that was compared by its keys has none: ${named.problem}`);
  return named;
}

function compareItems(
  shape: ListShape,
  old: ReadonlyMap<string, readonly unknown[]>,
  next: ReadonlyMap<string, readonly unknown[]>,
): Comparison | undefined {
  const changes = new Changes();
  for (const [element, before] of old) {
    const after = next.get(element);
    if (after === undefined) changes.remove(element, wholeItem(shape, before));
    else {
      const difference = compareSameItems(shape, before, after);
      if (difference !== undefined) changes.note(element, difference);
    }
  }
  for (const [element, after] of next) if (!old.has(element)) changes.add(element, wholeItem(shape, after));
  return changes.result();
}

function wholeItem(shape: ListShape, items: readonly unknown[]): FieldSet {
  return (shape.kind === 'keyed' && items.length === 1 ? wholeNode(shape.element, items[0]) : LEAF) ?? LEAF;
}

function compareSameItems(
  shape: ListShape,
  before: readonly unknown[],
  after: readonly unknown[],
): Difference | undefined {
  if (before.length > 1 && after.length > 1) return deepEqual(before, after) ? undefined : MODIFIED;
  if (before.length > 1) return { added: wholeItem(shape, after), removed: LEAF };
  if (after.length > 1) return { added: LEAF, removed: wholeItem(shape, before) };
  return shape.kind === 'keyed' ? compareValues(shape.element, before[0], after[0]) : undefined;
}

function isEmpty(value: ReadonlyJson): boolean {
  for (const _key in value) return false;
  return true;
}

/** Collects the differences below one node. */
class Changes {
  #added: FieldSetBuilder | undefined;
  #modified: FieldSetBuilder | undefined;
  #removed: FieldSetBuilder | undefined;

  add(element: string, node: FieldSet): void {
    (this.#added ??= {})[element] = node;
  }

  remove(element: string, node: FieldSet): void {
    (this.#removed ??= {})[element] = node;
  }

  note(element: string, { added, modified, removed }: Difference): void {
    if (added !== undefined) (this.#added ??= {})[element] = added;
    if (modified !== undefined) (this.#modified ??= {})[element] = modified;
    if (removed !== undefined) (this.#removed ??= {})[element] = removed;
  }

  /** Returns undefined when nothing differs. */
  result(): Comparison | undefined {
    if (this.#added === undefined && this.#modified === undefined && this.#removed === undefined)
      return undefined;
    return {
      added: this.#added === undefined ? EMPTY_SET : sorted(this.#added),
      modified: this.#modified === undefined ? EMPTY_SET : sorted(this.#modified),
      removed: this.#removed === undefined ? EMPTY_SET : sorted(this.#removed),
    };
  }
}

/**
 * Returns the node of an added or removed value with everything in it. Undefined for a value that is never
 * owned.
 */
function wholeNode(shape: Shape, value: unknown): FieldSet | undefined {
  switch (shape.kind) {
    case 'ignored':
      return undefined;
    case 'leaf':
      return LEAF;
    case 'deduced':
      return isJsonObject(value) ? wholeObject(DEDUCED_OBJECT, value) : LEAF;
    case 'object':
      return isJsonObject(value) ? wholeObject(shape, value) : LEAF;
    case 'set':
    case 'keyed':
    default:
      return Array.isArray(value) ? wholeList(shape, value) : LEAF;
  }
}

function wholeObject(shape: ObjectShape, value: Readonly<Record<string, unknown>>): FieldSet {
  let node: FieldSetBuilder | undefined;
  for (const key in value) {
    const each = shape.fields.get(key) ?? shape.others;
    const child = each === undefined ? undefined : wholeNode(each, value[key]);
    if (child === undefined) continue;
    node ??= { [SELF]: LEAF };
    node[fieldElement(key)] = child;
  }
  return node === undefined ? LEAF : sorted(node);
}

function wholeList(shape: ListShape, list: readonly unknown[]): FieldSet {
  const items = list.length === 0 ? undefined : itemsByElement(shape, list);
  if (items === undefined) return LEAF;
  const node: FieldSetBuilder = { [SELF]: LEAF };
  for (const [element, same] of items) {
    const whole = shape.kind === 'keyed' && same.length === 1 ? wholeNode(shape.element, same[0]) : LEAF;
    node[element] = whole ?? LEAF;
  }
  return sorted(node);
}
