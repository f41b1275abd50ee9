import { isJsonObject } from '../object/clone';
import { isOwnedEmpty } from './applied';
import type { FieldSet } from './field-set';
import { isEmptySet, SELF } from './field-set';
import { getItemElement, hasDistinctItems } from './items';
import { fieldElement } from './path-element';
import type { Inside, LeafShape, ListShape, ObjectShape, Shape } from './shape';
import { DEDUCED_OBJECT, isScalarOf } from './shape';
import type { ReadonlyJson } from '../object/json';

/**
 * True when `appliedSet` of the configuration would equal this set. Most appliers apply the same fields again,
 * and this check allocates nothing. False for a configuration that `appliedSet` refuses.
 */
export function ownsExactly(shape: ObjectShape, config: object, set: FieldSet): boolean {
  const owned = fieldsOwned(shape, config as ReadonlyJson, set);
  return owned >= 0 && owned === sizeOf(set);
}

/** Returned where the value owns something else than the node. */
const OTHERWISE = -1;

/** Returns how many children of the node the fields of the object own, all as the node says. */
function fieldsOwned(shape: ObjectShape, value: ReadonlyJson, node: FieldSet | undefined): number {
  let owned = 0;
  for (const key in value) {
    const declared = shape.fields.get(key);
    const each = declared ?? shape.others;
    if (each === undefined) return OTHERWISE;
    if (value[key] === undefined || each.kind === 'ignored') continue;
    const child = node?.[fieldElement(key)];
    const isMember = declared === undefined || isOwnedEmpty(each, value[key]);
    const one = ownsNode(each, value[key], { node: child, isMember });
    if (one === OTHERWISE) return OTHERWISE;
    owned += one;
  }
  return owned;
}

function itemsOwned(shape: ListShape, list: readonly unknown[], node: FieldSet | undefined): number {
  if (node === undefined) return list.length === 0 ? 0 : OTHERWISE;
  for (const item of list) {
    const named = getItemElement(shape, item);
    const child = typeof named === 'string' ? node[named] : undefined;
    if (child === undefined) return OTHERWISE;
    if (ownsNode(shape.element, item, { node: child, isMember: true }) !== 1) return OTHERWISE;
  }
  return hasDistinctItems(shape, list) ? list.length : OTHERWISE;
}

/** The set's node of one value. With `isMember` the value itself is owned, with any content. */
interface Expected {
  readonly node: FieldSet | undefined;
  readonly isMember: boolean;
}

/** Returns 1 when the value owns exactly this node, 0 when it owns nothing and there is no node. */
function ownsNode(shape: Shape, value: unknown, expected: Expected): number {
  switch (shape.kind) {
    case 'ignored':
      return ownsInside(0, expected);
    case 'leaf':
      return fitsLeaf(shape, value, 0) ? ownsLeaf(expected) : OTHERWISE;
    case 'deduced':
      if (!isJsonObject(value)) return ownsLeaf(expected);
      return ownsInside(fieldsOwned(DEDUCED_OBJECT, value, expected.node), expected);
    case 'object':
      if (value === null) return ownsInside(0, expected);
      if (!isJsonObject(value)) return OTHERWISE;
      return ownsInside(fieldsOwned(shape, value, expected.node), expected);
    case 'set':
    case 'keyed':
    default:
      if (value === null) return ownsInside(0, expected);
      if (!Array.isArray(value)) return OTHERWISE;
      return ownsInside(itemsOwned(shape, value, expected.node), expected);
  }
}

function ownsLeaf({ node }: Expected): number {
  return node !== undefined && isEmptySet(node) ? 1 : OTHERWISE;
}

function ownsInside(children: number, { node, isMember }: Expected): number {
  if (children === OTHERWISE) return OTHERWISE;
  if (children === 0 && !isMember) return node === undefined ? 0 : OTHERWISE;
  if (node === undefined) return OTHERWISE;
  if (children === 0) return isEmptySet(node) ? 1 : OTHERWISE;
  const isNodeMember = node[SELF] !== undefined;
  return isNodeMember === isMember && sizeOf(node) === children + (isMember ? 1 : 0) ? 1 : OTHERWISE;
}

function sizeOf(node: FieldSet): number {
  let size = 0;
  for (const _key in node) size += 1;
  return size;
}

/** Deepest nesting of a value. */
const DEPTH_MAX = 1_000;

/**
 * True when an atomic value is a scalar of its type, or has no undeclared fields, and no list that repeats an
 * item or has one without a key.
 */
function fitsLeaf({ scalar, inside }: LeafShape, value: unknown, depth: number): boolean {
  if (scalar !== undefined) return isScalarOf(scalar, value);
  return inside === undefined || fitsInside(inside, value, depth);
}

function fitsInside({ of, shape }: Inside, value: unknown, depth: number): boolean {
  if (value === null) return true;
  if (of === 'value') return fitsShape(shape, value, depth + 1);
  if (of === 'items') return Array.isArray(value) && allFit(shape, value, depth);
  return isJsonObject(value) && allFit(shape, Object.values(value), depth);
}

function fitsShape(shape: Shape, value: unknown, depth: number): boolean {
  if (depth > DEPTH_MAX) return false;
  switch (shape.kind) {
    case 'ignored':
    case 'deduced':
      return true;
    case 'leaf':
      return fitsLeaf(shape, value, depth);
    case 'object':
      return value === null || (isJsonObject(value) && fieldsFit(shape, value, depth));
    case 'set':
    case 'keyed':
    default: {
      if (value === null) return true;
      if (!Array.isArray(value)) return false;
      const isNamed = value.every((item) => typeof getItemElement(shape, item) === 'string');
      return isNamed && hasDistinctItems(shape, value) && allFit(shape.element, value, depth);
    }
  }
}

function fieldsFit(shape: ObjectShape, value: Readonly<Record<string, unknown>>, depth: number): boolean {
  for (const key in value) {
    const each = shape.fields.get(key) ?? shape.others;
    if (each === undefined || !fitsShape(each, value[key], depth + 1)) return false;
  }
  return true;
}

function allFit(shape: Shape, values: readonly unknown[], depth: number): boolean {
  return values.every((value) => fitsShape(shape, value, depth + 1));
}
