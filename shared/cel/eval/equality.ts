import {
  Duration,
  ListValue,
  MapValue,
  OpaqueValue,
  OptionalValue,
  Timestamp,
  TypeValue,
  Uint,
  mapKeyOf,
} from './values';
import type { Value } from './values';
import { isSameType } from '../check/types';

/** Compares two values; numbers of different kinds are equal if their values are, other kinds never are. */
export function isEqual(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a === typeof b && typeof a !== 'object' && typeof a !== 'number') return false;
  const order = compareNumbers(a, b);
  if (order !== undefined) return order === 0;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (a instanceof ListValue) return b instanceof ListValue && areListsEqual(a, b);
  if (a instanceof MapValue) return b instanceof MapValue && areMapsEqual(a, b);
  return areScalarsEqual(a, b);
}

function areScalarsEqual(a: Exclude<Value, null>, b: Exclude<Value, null>): boolean {
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanoseconds === b.nanoseconds;
  if (a instanceof Duration) return b instanceof Duration && a.nanoseconds === b.nanoseconds;
  if (a instanceof TypeValue) return b instanceof TypeValue && isSameRuntimeType(a, b);
  if (a instanceof OptionalValue) {
    if (!(b instanceof OptionalValue)) return false;
    return a.value === undefined || b.value === undefined ? a.value === b.value : isEqual(a.value, b.value);
  }
  return a instanceof OpaqueValue && b instanceof OpaqueValue && isSameType(a.type, b.type) && a.equals(b);
}

/** Types at run time have no parameters: `type([1]) == type(['a'])`. */
function isSameRuntimeType(a: TypeValue, b: TypeValue): boolean {
  return a.type.kind === b.type.kind && a.type.name === b.type.name;
}

function areListsEqual(a: ListValue, b: ListValue): boolean {
  const special = a.equalsSpecially(b) ?? b.equalsSpecially(a);
  if (special !== undefined) return special;
  if (a.size !== b.size) return false;
  for (let index = 0; index < a.size; index += 1) if (!isEqual(a.at(index), b.at(index))) return false;
  return true;
}

function areMapsEqual(a: MapValue, b: MapValue): boolean {
  if (a.size !== b.size) return false;
  const special = a.equalsSpecially(b);
  if (special !== undefined) return special;
  return a.keys().every((key) => {
    const name = mapKeyOf(key);
    if (name === undefined) return false;
    const left = a.find(name);
    const right = b.find(name);
    return left !== undefined && right !== undefined && isEqual(left, right);
  });
}

/** Returns the order of two numbers of any kind; undefined when one is no number, NaN when one is NaN. */
export function compareNumbers(a: Value, b: Value): number | undefined {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b ? -1 : a > b ? 1 : 0;
  const left = a instanceof Uint ? a.value : a;
  const right = b instanceof Uint ? b.value : b;
  if (
    (typeof left !== 'bigint' && typeof left !== 'number') ||
    (typeof right !== 'bigint' && typeof right !== 'number')
  ) {
    return undefined;
  }
  // Numbers of different kinds are compared as doubles, so that large integers may equal their neighbors.
  const isMixed = typeof left !== typeof right;
  const [a1, b1] = isMixed ? [Number(left), Number(right)] : [left, right];
  if (a1 < b1) return -1;
  if (a1 > b1) return 1;
  return Number.isNaN(Number(left)) || Number.isNaN(Number(right)) ? Number.NaN : 0;
}

/** Orders strings by code points, as bytes of UTF-8 would be ordered. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left === right) continue;
    // Surrogates stand for code points above all others.
    const isLeftPair = left >= 0xd800 && left <= 0xdfff;
    const isRightPair = right >= 0xd800 && right <= 0xdfff;
    if (isLeftPair !== isRightPair) return isLeftPair ? 1 : -1;
    return left < right ? -1 : 1;
  }
  return a.length < b.length ? -1 : 1;
}
