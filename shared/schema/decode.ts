import { DecodeError } from './decode-error';
import { parseExact } from './exact-json';
import { jsonSyntaxProblem } from './json-syntax';
import { EMPTIED } from './emptied';
import type { Decoding } from './plan';
import { decodeMessage } from './plan';
import type { MessageType } from './types';

/** A document nested deeper than this is refused, wherever in it. */
export const JSON_DEPTH_MAX = 1_000;

export interface DecodeOptions {
  /** `report` names unknown fields in the result. They are dropped in both cases. Default `drop`. */
  readonly unknown?: 'drop' | 'report';
  /**
   * Whether an empty list or map of a field that is always written is null, as it comes back from the store (the default), or stays,
   * as it is upstream until it has been there: it counts for who owns the field. `withStoredEmpties` settles it.
   */
  readonly empty?: 'null' | 'keep';
  /**
   * Which part of upstream makes the object: the reader of documents (the default), or the converter, for what a strategic merge patch or
   * an apply has merged. That takes of integers with too many bits the lowest ones, and empty bytes for none.
   */
  readonly by?: 'reader' | 'converter';
}

export interface Decoded<T> {
  /** Shares with the input what was in canonical form already, the whole included: treat both as frozen. Maps have no prototype. */
  readonly object: T;
  /** Paths of at most `UNKNOWN_FIELDS_MAX` unknown fields; empty unless asked for. */
  readonly unknownFields: readonly string[];
}

/**
 * Parses one JSON document. Integers of more than 53 bits become bigints if they fit 64, else the nearest number.
 * Throws a DecodeError for a syntax error, for a number beyond 1.8e308 unless such are kept (as infinite, see `hasKeptInfinite`), or for nesting
 * deeper than `depthMax` (default `JSON_DEPTH_MAX`).
 * The caller bounds the size.
 */
export function decodeJson(
  bytes: Buffer,
  {
    depthMax = JSON_DEPTH_MAX,
    fractions = 'forgotten',
    infinite = 'refused',
  }: {
    readonly depthMax?: number;
    readonly fractions?: 'forgotten' | 'remembered';
    readonly infinite?: 'refused' | 'kept';
  } = {},
): unknown {
  const { depth, hasLongNumber, mayOverflow, hasFraction } = survey(bytes);
  if (depth > depthMax) throw new DecodeError(`nested deeper than ${String(depthMax)} levels`);
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new DecodeError(jsonSyntaxProblem(bytes) ?? String(error), { cause: error });
  }
  const isInfinite = mayOverflow && holdsInfinite(value);
  const exact = hasLongNumber ? parseExact(text) : value;
  if (isInfinite) {
    if (infinite === 'refused' || typeof exact !== 'object' || exact === null) {
      throw new DecodeError(OUT_OF_RANGE);
    }
    INFINITE.add(exact);
  }
  if (fractions === 'remembered' && (hasFraction || hasLongNumber)) remember(exact, { text, hasFraction });
  return exact;
}

function remember(document: unknown, written: Written): void {
  if (typeof document === 'object' && document !== null) WRITTEN.set(document, written);
}

interface Written {
  readonly text: string;
  readonly hasFraction: boolean;
}

const WRITTEN = new WeakMap<object, Written>();

/**
 * The document with a `WholeFraction` for each whole number that is written as a fraction (`1.0`, `1e3`), which the decoder takes for no
 * integer. Undefined where no number is written so, and for what was not decoded to remember it.
 */
export function withFractions(value: unknown): unknown {
  const written = typeof value === 'object' && value !== null ? WRITTEN.get(value) : undefined;
  return written?.hasFraction === true ? parseExact(written.text, 'fractions') : undefined;
}

/** The document with a `NumberText` for each number that would be written otherwise than it was; the document itself where there is none. */
export function withNumberTexts(value: unknown): unknown {
  const written = typeof value === 'object' && value !== null ? WRITTEN.get(value) : undefined;
  return written === undefined ? value : parseExact(written.text, 'texts');
}

/** What is told of a number beyond 1.8e308. */
export const OUT_OF_RANGE = 'a number is out of range';

const INFINITE = new WeakSet<object>();

/** Whether the document was decoded to keep numbers that are too large, and has some. */
export function hasKeptInfinite(document: unknown): boolean {
  return typeof document === 'object' && document !== null && INFINITE.has(document);
}

/** Whether a number in it is too large for 64 bits of floating point, so that it could not be written again. */
export function holdsInfinite(value: unknown): boolean {
  if (value === Infinity || value === -Infinity) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsInfinite);
}

/**
 * Reads a JSON value as a message of the schema: checks types, drops unknown fields and null, writes times, quantities and base64 in
 * their canonical form and empty values as upstream's encoder does, with `kind`, `apiVersion` and `metadata` first.
 * Reading its own result gives the same again. The types in `shared/api/types` say what is there afterwards. Throws a DecodeError that names the path.
 */
export function decodeObject<T extends object>(
  type: MessageType<T>,
  value: unknown,
  { unknown = 'drop', empty = 'null', by = 'reader' }: DecodeOptions = {},
): Decoded<T> {
  const decoding: Decoding = {
    report: unknown === 'report',
    keepsEmpty: empty === 'keep',
    isConverter: by === 'converter',
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

export { DecodeError } from './decode-error';
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

/** Numbers with so many digits in a row may not be exact as a JavaScript number. */
const LONG_NUMBER_DIGITS = 16;

/** No number with fewer digits and without an exponent is too large for floating point. */
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

/** One pass over the bytes for what has to be known before they are parsed. It need not notice bad syntax. */
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

/** The index of the last of the digits that begin at `start`. */
function surveyDigits(bytes: Buffer, start: number, found: Survey): number {
  let end = start + 1;
  while (isDigit(bytes[end] ?? 0)) end += 1;
  const digits = end - start;
  if (digits >= LONG_NUMBER_DIGITS) found.hasLongNumber = true;
  if (digits >= OVERFLOW_DIGITS) found.mayOverflow = true;
  // Behind a digit it is no letter of a word.
  if (bytes[end] === SMALL_E || bytes[end] === CAPITAL_E) found.mayOverflow = found.hasFraction = true;
  return end - 1;
}

function isDigit(byte: number): boolean {
  return byte >= DIGIT_0 && byte <= DIGIT_9;
}

/** Beyond this a string is long, and searched by the runtime, for which a call is as much as so many steps. */
const SHORT_STRING_BYTES = 64;

/** The index of the quote that ends the string that begins at `start`. */
function endOfString(bytes: Buffer, start: number): number {
  const first = start + 1;
  const near = Math.min(first + SHORT_STRING_BYTES, bytes.length);
  const at = quoteFrom(bytes, first, near);
  if (at < near || at >= bytes.length) return at;
  const quote = bytes.indexOf(QUOTE, at);
  // With a backslash before it, it may be one of the string's own.
  return quote > at && bytes[quote - 1] !== BACKSLASH ? quote : quoteFrom(bytes, at, bytes.length);
}

/** The index of the quote that ends a string of which `start` is in the middle; if there is none before `end`, one not below that. */
function quoteFrom(bytes: Buffer, start: number, end: number): number {
  let index = start;
  while (index < end && bytes[index] !== QUOTE) index += bytes[index] === BACKSLASH ? 2 : 1;
  return index;
}
