import { NumberText } from '../object/exact-text';
import { DecodeError } from './decode-error';
import { parseExact, parseWithNumberTexts } from './exact-json';
import { jsonSyntaxProblem } from './json-syntax';
import { EMPTIED } from './emptied';
import type { Decoding } from './plan';
import { decodeMessage } from './plan';
import type { MessageType } from './types';
import { decodeUtf8, mayHaveLoneSurrogates, withoutLoneSurrogates } from './utf8';

/** Deepest nesting of a JSON document. */
export const JSON_DEPTH_MAX = 1_000;

export interface DecodeOptions {
  /** Unknown fields are always dropped; `report` also names them in the result. Default `drop`. */
  readonly unknown?: 'drop' | 'report';
  /**
   * What becomes of an empty list or map in a field that is always written. `null` (default) is the form that
   * the store returns. `keep` preserves it, as upstream does until the object is stored, since it counts for
   * field ownership; `withStoredEmpties` replaces it later.
   */
  readonly empty?: 'null' | 'keep';
  /**
   * Which rules of upstream apply: those of the JSON decoder (default), or those of the converter that reads a
   * merged strategic merge patch or applied configuration. The converter truncates integers and takes empty
   * bytes as absent.
   */
  readonly by?: 'reader' | 'converter';
  /** Whether the value can contain a `NumberText`. The result contains none. */
  readonly hasNumberTexts?: boolean;
}

export interface Decoded<T> {
  /**
   * Shares everything that was in canonical form with the input, so treat both as frozen. Maps have no
   * prototype.
   */
  readonly object: T;
  /** Paths of at most `UNKNOWN_FIELDS_MAX` unknown fields; empty unless `unknown` is `report`. */
  readonly unknownFields: readonly string[];
}

interface JsonOptions {
  /** Deepest nesting that is accepted; default `JSON_DEPTH_MAX`. */
  readonly depthMax?: number;
  /** Whether a number beyond 1.8e308 becomes Infinity instead of an error; a document that is only a number is always refused. */
  readonly allowInfinite?: boolean;
}

/** A parsed JSON document and the facts about its text that the parsed value does not show. */
export interface JsonDocument {
  readonly value: unknown;
  /** A number in it is Infinity, since 64 bits of floating point cannot hold it. */
  readonly hasInfinite: boolean;
  /**
   * Parses the document again, with a `NumberText` for each number that JavaScript would write otherwise. Undefined
   * where no number can be written so.
   */
  readonly parseNumberTexts: (() => unknown) | undefined;
}

/** Parses one JSON document as `decodeJsonDocument` does, and returns its value. */
export function decodeJson(bytes: Buffer, options?: JsonOptions): unknown {
  return decodeJsonDocument(bytes, options).value;
}

/**
 * Parses one JSON document. Integers of more than 53 bits become bigints if they fit 64, else the nearest number.
 * As in Go, bytes that are no UTF-8 and escapes of lone surrogates become U+FFFD.
 * Throws a DecodeError for a syntax error, for a number that is out of range, and for nesting that is too deep.
 * The caller bounds the size.
 */
export function decodeJsonDocument(
  bytes: Buffer,
  { depthMax = JSON_DEPTH_MAX, allowInfinite = false }: JsonOptions = {},
): JsonDocument {
  const { depth, hasLongNumber, mayOverflow, hasFraction } = survey(bytes);
  if (depth > depthMax) throw new DecodeError(`nested deeper than ${String(depthMax)} levels`);
  const text = decodeUtf8(bytes);
  const toValid = mayHaveLoneSurrogates(bytes, text) ? withoutLoneSurrogates : asItIs;
  let value: unknown;
  try {
    value = toValid(JSON.parse(text));
  } catch (error) {
    throw new DecodeError(jsonSyntaxProblem(bytes) ?? String(error), { cause: error });
  }
  const hasInfinite = mayOverflow && containsInfinite(value);
  const isObject = typeof value === 'object' && value !== null;
  if (hasInfinite && !(allowInfinite && isObject)) throw new DecodeError(OUT_OF_RANGE);
  return {
    value: hasLongNumber ? toValid(parseExact(text)) : value,
    hasInfinite,
    parseNumberTexts:
      (hasFraction || hasLongNumber) && isObject ? () => toValid(parseWithNumberTexts(text)) : undefined,
  };
}

function asItIs(value: unknown): unknown {
  return value;
}

/** The message for a number beyond 1.8e308. */
export const OUT_OF_RANGE = 'a number is out of range';

/** True when a number in the value is infinite, so that it cannot be written as JSON. */
export function containsInfinite(value: unknown): boolean {
  const number = value instanceof NumberText ? Number(value.text) : value;
  if (number === Infinity || number === -Infinity) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(containsInfinite);
}

/**
 * Decodes a JSON value as a message of the schema: checks types, drops unknown fields and nulls, and makes
 * times, quantities and base64 canonical. Empty values are written as upstream's encoder does, and `kind`,
 * `apiVersion` and `metadata` come first. Decoding the result again returns the same object. The types in
 * `shared/api/types` describe the result. Throws a DecodeError with the path.
 */
export function decodeObject<T extends object>(
  type: MessageType<T>,
  value: unknown,
  { unknown = 'drop', empty = 'null', by = 'reader', hasNumberTexts = false }: DecodeOptions = {},
): Decoded<T> {
  const decoding: Decoding = {
    report: unknown === 'report',
    keepsEmpty: empty === 'keep',
    isConverter: by === 'converter',
    hasNumberTexts,
    unknown: [],
    depth: 0,
    emptied: undefined,
    emptiedBelow: undefined,
  };
  const object = decodeMessage(type, value, decoding) as unknown as T;
  const { emptiedBelow } = decoding;
  return {
    object: emptiedBelow === undefined ? object : { ...object, [EMPTIED]: emptiedBelow },
    unknownFields: decoding.unknown,
  };
}

export { DecodeError, unexpectedType } from './decode-error';
export { UNKNOWN_FIELDS_MAX } from './plan';

const COMMA = 0x2c;
const COLON = 0x3a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/** From this number of digits in a row, a JavaScript number may be inexact. */
const LONG_NUMBER_DIGITS = 16;

/** A number with fewer digits and no exponent fits floating point. */
const OVERFLOW_DIGITS = 309;
const POINT = 0x2e;
const SMALL_E = 0x65;
const CAPITAL_E = 0x45;

interface Survey {
  depth: number;
  hasLongNumber: boolean;
  mayOverflow: boolean;
  /** A number is written with a point or an exponent. */
  hasFraction: boolean;
}

/** Surveys the bytes in one pass before they are parsed. It does not detect syntax errors. */
function survey(bytes: Buffer): Readonly<Survey> {
  const found: Survey = { depth: 0, hasLongNumber: false, mayOverflow: false, hasFraction: false };
  let open = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte === COMMA || byte === COLON) continue;
    if (byte === QUOTE) {
      index = endOfString(bytes, index);
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      open += 1;
      if (open > found.depth) found.depth = open;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      open -= 1;
    } else if (byte === POINT) {
      found.hasFraction = true;
    } else if (isDigit(byte)) index = surveyDigits(bytes, index, found);
  }
  return found;
}

/** Returns the index of the last of the digits that begin at `start`. */
function surveyDigits(bytes: Buffer, start: number, found: Survey): number {
  let end = start + 1;
  while (isDigit(bytes[end] ?? 0)) end += 1;
  const digits = end - start;
  if (digits >= LONG_NUMBER_DIGITS) found.hasLongNumber = true;
  if (digits >= OVERFLOW_DIGITS) found.mayOverflow = true;
  // After a digit, `e` begins an exponent and is no letter of a literal.
  if (bytes[end] === SMALL_E || bytes[end] === CAPITAL_E) found.mayOverflow = found.hasFraction = true;
  return end - 1;
}

function isDigit(byte: number): boolean {
  return byte >= DIGIT_0 && byte <= DIGIT_9;
}

/** From this length the search of the runtime is faster than a loop, in bytes. */
const SHORT_STRING_BYTES = 64;

/** Returns the index of the quote that ends the string that begins at `start`. */
function endOfString(bytes: Buffer, start: number): number {
  const first = start + 1;
  const near = Math.min(first + SHORT_STRING_BYTES, bytes.length);
  const at = quoteFrom(bytes, first, near);
  if (at < near || at >= bytes.length) return at;
  const quote = bytes.indexOf(QUOTE, at);
  // A quote after a backslash may be part of the string.
  return quote > at && bytes[quote - 1] !== BACKSLASH ? quote : quoteFrom(bytes, at, bytes.length);
}

/**
 * Finds the closing quote from `start`, which is inside the string. Returns at least `end` if there is none
 * before it.
 */
function quoteFrom(bytes: Buffer, start: number, end: number): number {
  let index = start;
  while (index < end && bytes[index] !== QUOTE) index += bytes[index] === BACKSLASH ? 2 : 1;
  return index;
}
