import { canonicalQuantity } from '../meta/quantity';
import { canonicalMicroTime, canonicalTime } from '../meta/time';
import { NumberText } from '../object/exact-text';
import { DecodeError, truncate, unexpectedType } from './decode-error';
import type { FieldKind } from './types';

/**
 * Decoder of one scalar type. `decode` accepts a value that is neither null nor undefined, and throws a
 * DecodeError.
 */
export interface Scalar {
  readonly decode: (value: unknown, decoding?: Reading) => unknown;
  /** The value of an absent required field, and of null in a list or map. */
  readonly zero: string | number | false | null;
  /** True where Go's type is a struct, which `omitempty` never omits. */
  readonly isStruct: boolean;
}

/** Decoders of all kinds of values that are not messages. */
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
  rawExtension: { decode: keepValue, zero: null, isStruct: true },
  fieldsV1: { decode: keepValue, zero: null, isStruct: true },
  json: { decode: keepValue, zero: null, isStruct: true },
};

const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);
const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** Type names in decode errors, for values that have a format besides their JSON type. */
const TIME = 'Time';
const MICRO_TIME = 'MicroTime';
const QUANTITY = 'Quantity';
const INT_OR_STRING = 'IntOrString';
const BASE64_TEXT = 'base64 string';

function decodeString(value: unknown): string {
  if (typeof value !== 'string') throw unexpectedType('string', value);
  return value;
}

function decodeBool(value: unknown): boolean {
  if (typeof value !== 'boolean') throw unexpectedType('bool', value);
  return value;
}

function decodeInt32(value: unknown, decoding?: Reading): number {
  if (typeof value === 'number' && Number.isInteger(value) && value <= INT32_MAX && value >= INT32_MIN)
    return value === 0 ? 0 : value;
  if (decoding?.isConverter === true && isWhole(value)) return Number(truncateInteger(value, 32));
  throw unexpectedType('int32', value);
}

/** Returns a bigint only where a number is not exact. */
function decodeInt64(value: unknown, decoding?: Reading): number | bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  const whole =
    decoding?.isConverter === true && isWhole(value) && !isInt64(value) ? truncateInteger(value, 64) : value;
  if (!isInt64(whole)) throw unexpectedType('int64', value);
  const small = Number(whole);
  return Number.isSafeInteger(small) ? small : whole;
}

function isInt64(value: unknown): value is bigint {
  return typeof value === 'bigint' && value <= INT64_MAX && value >= INT64_MIN;
}

function isWhole(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
}

/**
 * Truncates to the lowest bits. A number beyond 64 bits becomes the minimum, as Go's conversion from floating
 * point does on amd64.
 */
function truncateInteger(value: number | bigint, bits: number): bigint {
  const whole = BigInt(value);
  return BigInt.asIntN(bits, isInt64(whole) ? whole : INT64_MIN);
}

/** The part of a decoding's state that numbers depend on. */
interface Reading {
  readonly isConverter: boolean;
  readonly hasNumberTexts: boolean;
}

function decodeDouble(value: unknown): number {
  const number =
    value instanceof NumberText ? Number(value.text) : typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) throw unexpectedType('float64', value);
  return number;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Returns base64 in canonical form: without line breaks, and with zero unused bits in the last character. */
function decodeBytes(value: unknown): string {
  if (Array.isArray(value)) return Buffer.from(value.map(decodeByte)).toString('base64');
  if (typeof value !== 'string') throw unexpectedType(BASE64_TEXT, value);
  const text = /[\r\n]/.test(value) ? value.replace(/[\r\n]/g, '') : value;
  if (text.length % 4 !== 0 || !BASE64.test(text)) throw new DecodeError('illegal base64 data');
  if (!text.endsWith('=')) return text;
  const end = text.length - 4;
  return text.slice(0, end) + Buffer.from(text.slice(end), 'base64').toString('base64');
}

/** Go also reads a list of numbers as bytes. */
function decodeByte(value: unknown, index: number): number {
  if (value === null) return 0;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255) return value;
  throw unexpectedType('uint8', value).locate(`[${String(index)}]`);
}

/** Decodes a list of strings. Null in it becomes the empty string. */
export function decodeStringList(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw unexpectedType('array', value);
  if (value.every((each) => typeof each === 'string')) return value;
  return value.map((each: unknown, index) => {
    if (each === null) return '';
    if (typeof each !== 'string') throw unexpectedType('string', each).locate(`[${String(index)}]`);
    return each;
  });
}

function decodeTime(value: unknown): string | null {
  if (typeof value !== 'string') throw unexpectedType(TIME, value);
  const time = canonicalTime(value);
  if (time === undefined) {
    throw new DecodeError(`invalid time "${truncate(value)}", must be as 2006-01-02T15:04:05Z (RFC 3339)`);
  }
  return time;
}

function decodeMicroTime(value: unknown): string | null {
  if (typeof value !== 'string') throw unexpectedType(MICRO_TIME, value);
  const time = canonicalMicroTime(value);
  if (time === undefined) {
    throw new DecodeError(`invalid time "${truncate(value)}", must be as 2006-01-02T15:04:05.000000Z`);
  }
  return time;
}

const NO_QUANTITY =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

function decodeQuantity(given: unknown): string {
  const value = given instanceof NumberText ? given.text : given;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') {
    throw unexpectedType(QUANTITY, value);
  }
  const quantity = canonicalQuantity(typeof value === 'string' ? value.trim() : String(value));
  if (quantity === undefined) throw new DecodeError(NO_QUANTITY);
  return quantity;
}

function decodeIntOrString(value: unknown): string | number {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') throw unexpectedType(INT_OR_STRING, value);
  return decodeInt32(value);
}

function keepValue(value: unknown, decoding?: Reading): unknown {
  return decoding?.hasNumberTexts === true ? withoutNumberTexts(value) : value;
}

/** Replaces each text of a number by the number. Throws a DecodeError for one beyond 64 bits of floating point. */
function withoutNumberTexts(value: unknown): unknown {
  if (value instanceof NumberText) return decodeDouble(value);
  if (Array.isArray(value)) return value.map(withoutNumberTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutNumberTexts(each)]));
}

interface UnionReaders {
  readonly schema: (value: unknown) => unknown;
  readonly schemas: (value: unknown) => unknown;
  readonly strings: (value: unknown) => unknown;
}

/**
 * Decodes a schema union: a schema or a list of schemas, a schema or a boolean, a schema or a list of strings.
 * As upstream, another value in place of a list counts as null. Throws a DecodeError where a boolean is
 * expected.
 */
export function decodeUnion(kind: FieldKind, value: unknown, readers: UnionReaders): unknown {
  if (typeof value === 'object' && !Array.isArray(value)) return readers.schema(value);
  if (kind === 'schemaOrBool') {
    if (typeof value !== 'boolean') throw unexpectedType('schema or bool', value);
    return value;
  }
  if (kind === 'schemaOrArray') {
    return Array.isArray(value) ? readers.schemas(value) : null;
  }
  return Array.isArray(value) ? readers.strings(value) : null;
}
