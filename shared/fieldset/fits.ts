import { isJsonObject } from '../object/clone';
import { elementOfItem, hasDistinctItems } from './items';
import type { Inside, ObjectShape, Shape } from './shape';

/** Deepest nesting of a value. */
const DEPTH_MAX = 1_000;

/**
 * True when an atomic value has no undeclared fields, and no list that repeats an item or has one without a
 * key. Scalars are not checked, since the decoder checks their types.
 */
export function fits(inside: Inside, value: unknown): boolean {
  return fitsInside(inside, value, 0);
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
      return shape.inside === undefined || fitsInside(shape.inside, value, depth);
    case 'object':
      return value === null || (isJsonObject(value) && fieldsFit(shape, value, depth));
    case 'set':
    case 'keyed':
    default: {
      if (value === null) return true;
      if (!Array.isArray(value)) return false;
      const isNamed = value.every((item) => typeof elementOfItem(shape, item) === 'string');
      if (!isNamed || !hasDistinctItems(shape, value)) return false;
      return shape.kind === 'set' || allFit(shape.element, value, depth);
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
