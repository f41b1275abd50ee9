import { compareNumbers, compareStrings } from './equality';
import { Duration, EvalError, ListValue, NO_OVERLOAD, Timestamp, Uint, concatLists } from './values';
import type { Result, Value } from './values';

export const INT_OVERFLOW = new EvalError('integer overflow');
export const UINT_OVERFLOW = new EvalError('unsigned integer overflow');
const DURATION_OVERFLOW = new EvalError('duration overflow');
export const TIMESTAMP_OVERFLOW = new EvalError('timestamp overflow');
const DIVISION_BY_ZERO = new EvalError('division by zero');
const MODULUS_BY_ZERO = new EvalError('modulus by zero');
const NOT_ORDERED = new EvalError('NaN values cannot be ordered');

const NANOSECONDS = 1_000_000_000n;
/** The first second of year 1 and the last one of year 9999. */
const UNIX_SECONDS_MIN = -62_135_596_800n;
const UNIX_SECONDS_MAX = 253_402_300_799n;

/** Returns an int, or an error outside of 64 bits. */
export function toInt(value: bigint): Result {
  return BigInt.asIntN(64, value) === value ? value : INT_OVERFLOW;
}

/** Returns a uint, or an error outside of 64 bits. */
export function toUint(value: bigint): Result {
  return BigInt.asUintN(64, value) === value ? new Uint(value) : UINT_OVERFLOW;
}

export function toDuration(nanoseconds: bigint): Result {
  return BigInt.asIntN(64, nanoseconds) === nanoseconds ? new Duration(nanoseconds) : DURATION_OVERFLOW;
}

export function toTimestamp(nanoseconds: bigint, offsetMinutes = 0): Result {
  const isBelow = nanoseconds < UNIX_SECONDS_MIN * NANOSECONDS;
  return isBelow || nanoseconds >= (UNIX_SECONDS_MAX + 1n) * NANOSECONDS
    ? TIMESTAMP_OVERFLOW
    : new Timestamp(nanoseconds, offsetMinutes);
}

export function add(a: Value, b: Value): Result {
  if (typeof a === 'bigint' && typeof b === 'bigint') return toInt(a + b);
  if (typeof a === 'string' && typeof b === 'string') return a + b;
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  if (a instanceof ListValue && b instanceof ListValue) return concatLists(a, b);
  if (a instanceof Uint && b instanceof Uint) return toUint(a.value + b.value);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.concat([a, b]);
  return addTimes(a, b);
}

function addTimes(a: Value, b: Value): Result {
  if (a instanceof Duration && b instanceof Duration) return toDuration(a.nanoseconds + b.nanoseconds);
  if (a instanceof Timestamp && b instanceof Duration)
    return toTimestamp(a.nanoseconds + b.nanoseconds, a.offsetMinutes);
  if (a instanceof Duration && b instanceof Timestamp)
    return toTimestamp(a.nanoseconds + b.nanoseconds, b.offsetMinutes);
  return NO_OVERLOAD;
}

export function subtract(a: Value, b: Value): Result {
  if (typeof a === 'bigint' && typeof b === 'bigint') return toInt(a - b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (a instanceof Uint && b instanceof Uint) return toUint(a.value - b.value);
  if (a instanceof Duration && b instanceof Duration) return toDuration(a.nanoseconds - b.nanoseconds);
  if (a instanceof Timestamp && b instanceof Duration)
    return toTimestamp(a.nanoseconds - b.nanoseconds, a.offsetMinutes);
  if (a instanceof Timestamp && b instanceof Timestamp) return toDuration(a.nanoseconds - b.nanoseconds);
  return NO_OVERLOAD;
}

export function multiply(a: Value, b: Value): Result {
  if (typeof a === 'bigint' && typeof b === 'bigint') return toInt(a * b);
  if (typeof a === 'number' && typeof b === 'number') return a * b;
  return a instanceof Uint && b instanceof Uint ? toUint(a.value * b.value) : NO_OVERLOAD;
}

export function divide(a: Value, b: Value): Result {
  if (typeof a === 'number' && typeof b === 'number') return a / b;
  if (typeof a === 'bigint' && typeof b === 'bigint') return b === 0n ? DIVISION_BY_ZERO : toInt(a / b);
  if (!(a instanceof Uint) || !(b instanceof Uint)) return NO_OVERLOAD;
  return b.value === 0n ? DIVISION_BY_ZERO : new Uint(a.value / b.value);
}

export function modulo(a: Value, b: Value): Result {
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if (b === 0n) return MODULUS_BY_ZERO;
    return b === -1n && BigInt.asIntN(64, -a) !== -a ? INT_OVERFLOW : a % b;
  }
  if (!(a instanceof Uint) || !(b instanceof Uint)) return NO_OVERLOAD;
  return b.value === 0n ? MODULUS_BY_ZERO : new Uint(a.value % b.value);
}

export function negate(a: Value): Result {
  if (typeof a === 'bigint') return toInt(-a);
  if (typeof a === 'number') return -a;
  return a instanceof Duration ? toDuration(-a.nanoseconds) : NO_OVERLOAD;
}

/** Orders two values of comparable kinds: negative, 0 or positive, or an error. */
export function compare(a: Value, b: Value): number | EvalError {
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b);
  const numbers = compareNumbers(a, b);
  if (numbers !== undefined) return Number.isNaN(numbers) ? NOT_ORDERED : numbers;
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  const isTime =
    (a instanceof Timestamp && b instanceof Timestamp) || (a instanceof Duration && b instanceof Duration);
  if (!isTime) return NO_OVERLOAD;
  const difference = a.nanoseconds - b.nanoseconds;
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}
