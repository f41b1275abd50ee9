import type { FieldSet, FieldSetBuilder } from './field-set';
import { isEmptySet, LEAF, SELF, withSelf } from './field-set';
import type { ObjectShape, Shape } from './shape';

/**
 * The set as it reads under the shape of today: where something became one unit, whoever owned a part of it owns the unit. What was one
 * unit and has parts now is owned as if it had been empty. Returns the same set when nothing changes.
 */
export function reconcileWithShape(shape: ObjectShape, set: FieldSet): FieldSet {
  if (isEmptySet(set)) return set;
  const known = readings.get(set);
  if (known?.shape === shape) return known.set;
  const reading = { shape, set: readNode(shape, set) };
  readings.set(set, reading);
  return reading.set;
}

/** What sets read as. Sets are frozen, and those of an object that is written often are the same each time. */
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

/**
 * The set with every declared field on the way to a member as a member too: what a removal has to name to take a field away once
 * nothing is left in it.
 */
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
 * The set with every field and key on the way to a member as a member too, declared or not: what has to stay so that the members can.
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
