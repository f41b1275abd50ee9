import { canonicalQuantity } from '../meta/quantity';
import { canonicalMicroTime, canonicalTime } from '../meta/time';
import { DecodeError, expected } from './decode-error';
import { WholeFraction } from './exact-json';
import type { FieldKind } from './types';

/** How one type of value is read. `decode` gets a value that is neither null nor undefined and throws a DecodeError if it does not fit. */
export interface Scalar {
  readonly decode: (value: unknown) => unknown;
  /** What stands for the value where none was given: in a required field and for null in a list or map. */
  readonly zero: string | number | false | null;
  /** True where upstream's encoder sees a structure, which is never empty: it is written even when `omitempty`. */
  readonly isStruct: boolean;
}

/** The types of values that are not made of messages. */
export const SCALARS: Readonly<Partial<Record<FieldKind, Scalar>>> = {
  string: { decode: decodeString, zero: '', isStruct: false },
  bool: { decode: decodeBool, zero: false, isStruct: false },
  int32: { decode: decodeInt32, zero: 0, isStruct: false },
  int64: { decode: decodeInt64, zero: 0, isStruct: false },
  double: { decode: decodeDouble, zero: 0, isStruct: false },
  bytes: { decode: decodeBytes, zero: '', isStruct: false },
  stringList: { decode: decodeStringList, zero: null, isStruct: false },
  time: { decode: decodeTime, zero: null, isStruct: true },
  microTime: { decode: decodeMicroTime, zero: null, isStruct: true },
  quantity: { decode: decodeQuantity, zero: '0', isStruct: true },
  intOrString: { decode: decodeIntOrString, zero: 0, isStruct: true },
  rawExtension: { decode: keep, zero: null, isStruct: true },
  fieldsV1: { decode: keep, zero: null, isStruct: true },
  json: { decode: keep, zero: null, isStruct: true },
};

const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);
const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** What misfits call what was wanted, where that is read in a way of its own. */
export const A_TIME = 'an RFC 3339 time';
export const A_MICRO_TIME = 'a time with microseconds';
export const A_QUANTITY = 'a quantity';
export const INT_OR_STRING = 'an integer or a string';
export const BASE64_TEXT = 'base64 text';

function decodeString(value: unknown): string {
  if (typeof value !== 'string') throw expected('a string', value);
  return value;
}

function decodeBool(value: unknown): boolean {
  if (typeof value !== 'boolean') throw expected('a boolean', value);
  return value;
}

function decodeInt32(value: unknown, decoding?: Reading): number {
  if (typeof value === 'number' && Number.isInteger(value) && value <= INT32_MAX && value >= INT32_MIN)
    return value === 0 ? 0 : value;
  if (decoding?.isConverter === true && isWhole(value)) return Number(wrapped(value, 32));
  throw intError('32', value);
}

/** A number, or a bigint where only that is exact. */
function decodeInt64(value: unknown, decoding?: Reading): number | bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  const whole =
    decoding?.isConverter === true && isWhole(value) && !isInt64(value) ? wrapped(value, 64) : value;
  if (!isInt64(whole)) throw intError('64', value);
  const small = Number(whole);
  return Number.isSafeInteger(small) ? small : whole;
}

function isInt64(value: unknown): value is bigint {
  return typeof value === 'bigint' && value <= INT64_MAX && value >= INT64_MIN;
}

function isWhole(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
}

/** The lowest bits of the number; what has more than 64 is the least number of 64, as the processor converts it from floating point. */
function wrapped(value: number | bigint, bits: number): bigint {
  const whole = BigInt(value);
  return BigInt.asIntN(bits, isInt64(whole) ? whole : INT64_MIN);
}

/** How numbers are read. */
interface Reading {
  readonly isConverter: boolean;
}

function intError(bits: string, value: unknown): DecodeError {
  return typeof value === 'number' || typeof value === 'bigint'
    ? new DecodeError(`expected an integer of ${bits} bits, got ${String(value)}`, {
        misfit: { wanted: `an integer of ${bits} bits`, given: value },
      })
    : expected(`an integer of ${bits} bits`, value);
}

function decodeDouble(value: unknown): number {
  if (value instanceof WholeFraction) return Number(value.text);
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'number') throw expected('a number', value);
  if (!Number.isFinite(value)) throw new DecodeError('expected a number that fits 64 bits');
  return value;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Base64 in its one canonical spelling: no line breaks, the unused bits of the last character zero. */
function decodeBytes(value: unknown): string {
  if (Array.isArray(value)) return Buffer.from(value.map(decodeByte)).toString('base64');
  if (typeof value !== 'string') throw expected(BASE64_TEXT, value);
  const text = /[\r\n]/.test(value) ? value.replace(/[\r\n]/g, '') : value;
  if (text.length % 4 !== 0 || !BASE64.test(text))
    throw new DecodeError(`expected ${BASE64_TEXT}`, { misfit: { wanted: BASE64_TEXT, given: value } });
  if (!text.endsWith('=')) return text;
  const end = text.length - 4;
  return text.slice(0, end) + Buffer.from(text.slice(end), 'base64').toString('base64');
}

/** Go reads a list of numbers as bytes, too. */
function decodeByte(value: unknown, index: number): number {
  if (value === null) return 0;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255) return value;
  throw expected('a byte', value).locate(`[${String(index)}]`);
}

/** A list of strings; null in it is the empty string. */
export function decodeStringList(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw expected('a list', value);
  if (value.every((each) => typeof each === 'string')) return value;
  return value.map((each: unknown, index) => {
    if (each === null) return '';
    if (typeof each !== 'string') throw expected('a string', each).locate(`[${String(index)}]`);
    return each;
  });
}

function decodeTime(value: unknown): string | null {
  if (typeof value !== 'string') throw expected(A_TIME, value);
  const time = canonicalTime(value);
  if (time === undefined) {
    throw new DecodeError('expected an RFC 3339 time as 2006-01-02T15:04:05Z', {
      misfit: { wanted: A_TIME, given: value },
    });
  }
  return time;
}

function decodeMicroTime(value: unknown): string | null {
  if (typeof value !== 'string') throw expected(A_TIME, value, A_MICRO_TIME);
  const time = canonicalMicroTime(value);
  if (time === undefined) {
    throw new DecodeError('expected a time with microseconds as 2006-01-02T15:04:05.000000Z', {
      misfit: { wanted: A_MICRO_TIME, given: value },
    });
  }
  return time;
}

const NO_QUANTITY =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

function decodeQuantity(given: unknown): string {
  const value = given instanceof WholeFraction ? given.text : given;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') {
    throw expected(A_QUANTITY, value);
  }
  const quantity = canonicalQuantity(typeof value === 'string' ? value.trim() : String(value));
  if (quantity === undefined)
    throw new DecodeError(NO_QUANTITY, { misfit: { wanted: A_QUANTITY, given: value } });
  return quantity;
}

function decodeIntOrString(value: unknown): string | number {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') throw expected(INT_OR_STRING, value);
  return decodeInt32(value);
}

function keep(value: unknown): unknown {
  return value;
}
