import { isJsonObject } from '../object/clone';
import { ownValue } from './own-value';
import { hasElement } from './items';
import type { Inside, ListShape, ObjectShape, Shape } from './shape';

/**
 * True when every item of the lists that `next` does not share with `old` has a key or is a scalar. Items may
 * repeat a key, as in v1.36. `old` is undefined for a new object.
 */
export function hasNamedItems(shape: ObjectShape, old: object | undefined, next: object): boolean {
  const { fields, others } = partsWithLists(shape);
  for (const [name, each] of fields) if (!isNamedIn(name, each, old, next)) return false;
  if (others === undefined) return true;
  for (const key in next) {
    if (!shape.fields.has(key) && !isNamedIn(key, others, old, next)) return false;
  }
  return true;
}

function isNamedIn(key: string, shape: Shape, old: object | undefined, next: object): boolean {
  const after = ownValue(next as Readonly<Record<string, unknown>>, key);
  if (typeof after !== 'object' || after === null) return true;
  const before = old === undefined ? undefined : ownValue(old as Readonly<Record<string, unknown>>, key);
  return before === after || isNamed(shape, before, after);
}

/**
 * The parts of an object that can hold such lists. Most kinds have few, so that a write does not visit every
 * field.
 */
interface PartsWithLists {
  readonly fields: readonly (readonly [name: string, shape: Shape])[];
  readonly others: Shape | undefined;
}

const parts = new WeakMap<ObjectShape, PartsWithLists>();

function partsWithLists(shape: ObjectShape): PartsWithLists {
  const known = parts.get(shape);
  if (known !== undefined) return known;
  // A recursive shape counts as one that holds them.
  parts.set(shape, { fields: [...shape.fields], others: shape.others });
  const found: PartsWithLists = {
    fields: [...shape.fields].filter(([, each]) => canHoldLists(each)),
    others: shape.others !== undefined && canHoldLists(shape.others) ? shape.others : undefined,
  };
  parts.set(shape, found);
  return found;
}

function canHoldLists(shape: Shape): boolean {
  if (shape.kind === 'leaf') return shape.inside !== undefined && canHoldLists(shape.inside.shape);
  if (shape.kind !== 'object') return shape.kind === 'set' || shape.kind === 'keyed';
  const { fields, others } = partsWithLists(shape);
  return fields.length > 0 || others !== undefined;
}

function isNamed(shape: Shape, before: unknown, after: object): boolean {
  if (shape.kind === 'object') {
    return !isJsonObject(after) || hasNamedItems(shape, isJsonObject(before) ? before : undefined, after);
  }
  if (shape.kind === 'leaf') return shape.inside === undefined || isNamedInside(shape.inside, after);
  if (shape.kind !== 'set' && shape.kind !== 'keyed') return true;
  return !Array.isArray(after) || areNamed(shape, after);
}

/** The lists inside an atomic value are checked all the same. */
function isNamedInside({ of, shape }: Inside, value: object): boolean {
  if (!canHoldLists(shape)) return true;
  if (of === 'value') return isNamed(shape, undefined, value);
  return Object.values(value).every(
    (each: unknown) => typeof each !== 'object' || each === null || isNamed(shape, undefined, each),
  );
}

function areNamed(shape: ListShape, list: readonly unknown[]): boolean {
  for (const item of list) if (!hasElement(shape, item)) return false;
  if (shape.kind === 'set' || !canHoldLists(shape.element)) return true;
  const { element } = shape;
  return list.every((item) => typeof item !== 'object' || item === null || isNamed(element, undefined, item));
}
