import { isJsonObject, setOwn } from '../object/clone';
import type { FieldSet } from './field-set';
import { isEmptySet, isMember } from './field-set';
import { elementOfItem } from './items';
import { fieldElement } from './path-element';
import type { ListShape, ObjectShape, Shape } from './shape';
import { DEDUCED_OBJECT } from './shape';
import type { JsonObject } from '../object/clone';

/** The object without the fields and items of the set. A map, struct or list that loses all it had stays, empty. */
export function removeFields(shape: ObjectShape, object: object, set: FieldSet): JsonObject {
  return isEmptySet(set) ? (object as JsonObject) : removeKeys(shape, object as JsonObject, set);
}

function removeBelow(shape: Shape, value: unknown, node: FieldSet): unknown {
  if (isEmptySet(node)) return value;
  switch (shape.kind) {
    case 'ignored':
    case 'leaf':
      return value;
    case 'deduced':
      return isJsonObject(value) ? removeKeys(DEDUCED_OBJECT, value, node) : value;
    case 'object':
      return isJsonObject(value) ? removeKeys(shape, value, node) : value;
    case 'set':
    case 'keyed':
    default:
      return Array.isArray(value) ? removeItems(shape, value, node) : value;
  }
}

function removeKeys(shape: ObjectShape, object: Readonly<JsonObject>, node: FieldSet): JsonObject {
  const result: JsonObject = {};
  for (const key in object) {
    const child = node[fieldElement(key)];
    const each = shape.fields.get(key) ?? shape.others;
    const isOurs = child !== undefined && each !== undefined && each.kind !== 'ignored';
    if (isOurs && isMember(child) && !isKept(each)) continue;
    setOwn(result, key, isOurs ? removeBelow(each, object[key], child) : object[key]);
  }
  return result;
}

function isKept(shape: Shape): boolean {
  return shape.kind === 'object' && shape.isKept === true;
}

function removeItems(shape: ListShape, list: readonly unknown[], node: FieldSet): unknown[] {
  const result: unknown[] = [];
  for (const item of list) {
    const named = elementOfItem(shape, item);
    const child = typeof named === 'string' ? node[named] : undefined;
    if (child === undefined) result.push(item);
    else if (!isMember(child)) {
      result.push(shape.kind === 'keyed' ? removeBelow(shape.element, item, child) : item);
    }
  }
  return result;
}
