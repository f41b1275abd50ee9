import { isJsonObject } from '../object/clone';
import { ownValue } from './own-value';
import { elementOfItem, hasDistinctItems } from './items';
import type { ListShape, ObjectShape, Shape } from './shape';

/**
 * True when every item of the lists that `next` does not share with `old` can be named by its keys or its value, and no two of one list
 * alike. `old` is undefined where everything is new.
 */
export function hasNamedItems(shape: ObjectShape, old: object | undefined, next: object): boolean {
  for (const key in next) {
    const after = ownValue(next as Readonly<Record<string, unknown>>, key);
    if (typeof after !== 'object' || after === null) continue;
    const before = old === undefined ? undefined : ownValue(old as Readonly<Record<string, unknown>>, key);
    if (before === after) continue;
    const each = shape.fields.get(key) ?? shape.others;
    if (each !== undefined && !isNamed(each, before, after)) return false;
  }
  return true;
}

function isNamed(shape: Shape, before: unknown, after: object): boolean {
  if (shape.kind === 'object') {
    return !isJsonObject(after) || hasNamedItems(shape, isJsonObject(before) ? before : undefined, after);
  }
  if (shape.kind !== 'set' && shape.kind !== 'keyed') return true;
  return !Array.isArray(after) || areNamed(shape, after);
}

function areNamed(shape: ListShape, list: readonly unknown[]): boolean {
  if (!list.every((item) => typeof elementOfItem(shape, item) === 'string')) return false;
  if (!hasDistinctItems(shape, list)) return false;
  if (shape.kind === 'set') return true;
  const { element } = shape;
  return list.every((item) => typeof item !== 'object' || item === null || isNamed(element, undefined, item));
}
