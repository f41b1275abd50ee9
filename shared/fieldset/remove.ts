import { isJsonObject, setOwn } from '../object/clone';
import type { FieldSet } from './field-set';
import { isEmptySet, isMember } from './field-set';
import { getItemElement } from './items';
import { fieldElement } from './path-element';
import type { ListShape, ObjectShape, Shape } from './shape';
import { DEDUCED_OBJECT } from './shape';
import type { JsonObject } from '../object/clone';

/** What replaces a map, struct or list that loses its last member: null, or the empty container. */
export type Emptied = 'null' | 'empty';

/** Removes the fields and items of the set from an object. */
export function removeFields(
  shape: ObjectShape,
  object: object,
  set: FieldSet,
  emptied: Emptied = 'empty',
): JsonObject {
  return isEmptySet(set) ? (object as JsonObject) : removeKeys(shape, object as JsonObject, { set, emptied });
}

/** What to remove at and below a node. */
interface Removal {
  readonly set: FieldSet;
  readonly emptied: Emptied;
}

function removeBelow(shape: Shape, value: unknown, removal: Removal): unknown {
  if (isEmptySet(removal.set)) return value;
  switch (shape.kind) {
    case 'ignored':
    case 'leaf':
      return value;
    case 'deduced':
      return isJsonObject(value) ? removeKeys(DEDUCED_OBJECT, value, removal) : value;
    case 'object':
      return isJsonObject(value) ? removeKeys(shape, value, removal) : value;
    case 'set':
    case 'keyed':
    default:
      return Array.isArray(value) ? removeItems(shape, value, removal) : value;
  }
}

function removeKeys(shape: ObjectShape, object: Readonly<JsonObject>, { set, emptied }: Removal): JsonObject {
  const result: JsonObject = {};
  for (const key in object) {
    const child = set[fieldElement(key)];
    const each = shape.fields.get(key) ?? shape.others;
    const isOurs = child !== undefined && each !== undefined && each.kind !== 'ignored';
    if (isOurs && isMember(child) && !isKept(each)) continue;
    const left = isOurs ? removeBelow(each, object[key], { set: child, emptied }) : object[key];
    const isNull = emptied === 'null' && left !== object[key] && isEmptied(left);
    setOwn(result, key, isNull ? null : left);
  }
  return result;
}

function isKept(shape: Shape): boolean {
  return shape.kind === 'object' && shape.isKept === true;
}

function isEmptied(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

function removeItems(shape: ListShape, list: readonly unknown[], { set, emptied }: Removal): unknown[] {
  const result: unknown[] = [];
  for (const item of list) {
    const named = getItemElement(shape, item);
    const child = typeof named === 'string' ? set[named] : undefined;
    if (child === undefined) result.push(item);
    else if (!isMember(child)) {
      result.push(shape.kind === 'keyed' ? removeBelow(shape.element, item, { set: child, emptied }) : item);
    }
  }
  return result;
}
