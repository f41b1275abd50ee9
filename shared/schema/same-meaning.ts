import { compareQuantity, parseQuantity } from '../meta/quantity';
import { deepEqual, getOwn, isJsonObject } from '../object/clone';
import type { FieldType, MessageType } from './types';

/**
 * True when two decoded values of a type are equal and quantities are compared by value: `1Gi` equals
 * `1073741824`. Upstream compares immutable fields so. Quantities are parsed only where the texts differ.
 */
export function isSemanticallyEqual(type: MessageType, a: unknown, b: unknown): boolean {
  return deepEqual(a, b) || sameMessage(type, a, b);
}

function sameMessage({ byName }: MessageType, a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isJsonObject(a) || !isJsonObject(b)) return deepEqual(a, b);
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) =>
    sameField(byName.get(name), getOwn(a, name), getOwn(b, name)),
  );
}

function sameField(field: FieldType | undefined, a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (field === undefined || (field.message === undefined && field.kind !== 'quantity'))
    return deepEqual(a, b);
  if (field.list) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameValue(field, item, b[index]));
  }
  if (!field.map) return sameValue(field, a, b);
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameValue(field, a[key], b[key]))
  );
}

function sameValue({ message }: FieldType, a: unknown, b: unknown): boolean {
  return message === undefined ? sameAmount(a, b) : sameMessage(message, a, b);
}

function sameAmount(a: unknown, b: unknown): boolean {
  if (a === b || typeof a !== 'string' || typeof b !== 'string') return a === b;
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  return left !== undefined && right !== undefined ? compareQuantity(left, right) === 0 : a === b;
}
