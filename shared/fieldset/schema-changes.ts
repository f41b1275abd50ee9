import type { FieldSet, FieldSetBuilder } from './field-set';
import { isEmptySet, LEAF, SELF, withSelf } from './field-set';
import type { ObjectShape, Shape } from './shape';

/**
 * Converts a set to the current shape. Where a value became atomic, every owner of a part becomes an owner of
 * the value. A value that was atomic and is granular now is owned as if it had been empty. Returns the same
 * set when nothing changes.
 */
export function reconcileWithShape(shape: ObjectShape, set: FieldSet): FieldSet {
  if (isEmptySet(set)) return set;
  const known = readings.get(set);
  if (known?.shape === shape) return known.set;
  const reading = { shape, set: readNode(shape, set) };
  readings.set(set, reading);
  return reading.set;
}

/** Cached results. Sets are frozen, and an object that is written often has the same ones each time. */
const readings = new WeakMap<FieldSet, { readonly shape: ObjectShape; readonly set: FieldSet }>();

function readNode(shape: Shape, node: FieldSet): FieldSet {
  if (shape.kind === 'deduced' || shape.kind === 'ignored' || isEmptySet(node)) return node;
  if (shape.kind === 'leaf') return LEAF;
  let result: FieldSetBuilder | undefined;
  for (const key in node) {
    if (key === SELF) continue;
    const each = childShape(shape, key);
    const child = node[key];
    if (each === undefined || child === undefined) continue;
    const read = readNode(each, child);
    if (read !== child) (result ??= { ...node })[key] = read;
  }
  return result ?? node;
}

/** Adds every declared field on the path to a member, as a removal needs to remove fields that become empty. */
export function withNamedFields(shape: Shape, set: FieldSet): FieldSet {
  let result: FieldSetBuilder | undefined;
  for (const key in set) {
    if (key === SELF) continue;
    const child = set[key] ?? LEAF;
    const each = childShape(shape, key);
    const below = each === undefined ? child : withNamedFields(each, child);
    const isNamed = shape.kind === 'object' && key.startsWith('f:') && shape.fields.has(key.slice(2));
    const named = isNamed ? withSelf(below) : below;
    if (named === child) continue;
    result ??= { ...set };
    result[key] = named;
  }
  return result ?? set;
}

/**
 * Adds every field and key on the path to a member, declared or not, as a prune needs to keep the members'
 * parents.
 */
export function withFieldsAbove(set: FieldSet): FieldSet {
  let result: FieldSetBuilder | undefined;
  for (const key in set) {
    if (key === SELF) continue;
    const child = set[key] ?? LEAF;
    const below = withFieldsAbove(child);
    const kept = key.startsWith('f:') ? withSelf(below) : below;
    if (kept === child) continue;
    result ??= { ...set };
    result[key] = kept;
  }
  return result ?? set;
}

function childShape(shape: Shape, element: string): Shape | undefined {
  if (shape.kind === 'object') {
    return element.startsWith('f:') ? (shape.fields.get(element.slice(2)) ?? shape.others) : undefined;
  }
  return shape.kind === 'keyed' ? shape.element : undefined;
}
