import type { FieldSet, FieldSetBuilder } from './field-set';
import { isEmptySet, LEAF, SELF, withSelf } from './field-set';
import type { ObjectShape, Shape } from './shape';

/**
 * The set as it reads under the shape of today: where something became one unit, whoever owned a part of it owns the unit. The other
 * direction leaves the set alone. Returns the same set when nothing changes.
 */
export function reconcileWithShape(shape: ObjectShape, set: FieldSet): FieldSet {
  if (standing.get(set) === shape) return set;
  const result = reconcileNode(shape, set);
  if (!isEmptySet(result)) standing.set(result, shape);
  return result;
}

/** Sets that read under a shape as they are. Sets are frozen, and those of an object that is written often are the same each time. */
const standing = new WeakMap<FieldSet, ObjectShape>();

function reconcileNode(shape: Shape, node: FieldSet): FieldSet {
  if (shape.kind === 'deduced' || shape.kind === 'ignored' || isEmptySet(node)) return node;
  if (shape.kind === 'leaf') return LEAF;
  let result: FieldSetBuilder | undefined;
  for (const key in node) {
    const each = key === SELF ? undefined : childShape(shape, key);
    const child = node[key] ?? LEAF;
    const reconciled = each === undefined ? child : reconcileNode(each, child);
    if (reconciled === child) continue;
    result ??= { ...node };
    result[key] = reconciled;
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
