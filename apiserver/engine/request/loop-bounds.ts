import type { Answer } from './exchange';

/**
 * Limits of one request on the event loop, so that no step takes longer than a few milliseconds. Larger requests are
 * offloaded to a worker and start there from scratch (ADR 38).
 */
export interface LoopBounds {
  /** Bytes of a body, by syntax. */
  readonly bodyBytesMax: Readonly<Record<BodySyntax, number>>;
  /** Bytes of a stored object that has to be parsed. */
  readonly storedBytesMax: number;
  /** JSON values, without keys, in one body or object. */
  readonly valuesMax: number;
}

export type BodySyntax = 'json' | 'yaml' | 'protobuf';

/** The request is too large for the event loop. Nothing has been changed yet, except if there is an answer. */
export class TooLargeHereError extends Error {
  /** The answer after a worker has repeated the request: of the deletion of a collection, only the rest is left for it. */
  readonly answer: Answer | undefined;

  constructor(what: string, answer?: Answer) {
    super(`too large for the event loop: ${what}`);
    this.name = 'TooLargeHereError';
    this.answer = answer;
  }
}

const KIB = 1_024;

/**
 * Measured: the most expensive value, an empty list element with its own rules, costs 7 µs from parser to answer, and
 * twice as much before its code is compiled. The most expensive byte takes 16 ns to parse in JSON, 1 µs in YAML.
 */
export const LOOP_BOUNDS: LoopBounds = {
  bodyBytesMax: { json: 128 * KIB, yaml: 4 * KIB, protobuf: 32 * KIB },
  storedBytesMax: 128 * KIB,
  valuesMax: 1_500,
};

/** For answers in YAML, where each byte costs more than in any other step. */
export const LOOP_BOUNDS_OF_YAML: LoopBounds = {
  ...LOOP_BOUNDS,
  bodyBytesMax: { json: 16 * KIB, yaml: 4 * KIB, protobuf: 8 * KIB },
  storedBytesMax: 16 * KIB,
};

/** Throws TooLargeHereError for a body over the limit. Never without bounds. */
export function keepBodyWithin(bounds: LoopBounds | undefined, bytes: number, syntax: BodySyntax): void {
  if (bounds === undefined || bytes <= bounds.bodyBytesMax[syntax]) return;
  throw new TooLargeHereError(`a body of ${String(bytes)} bytes`);
}

/** Throws TooLargeHereError for a stored object over the limit. Never without bounds. */
export function keepStoredWithin(bounds: LoopBounds | undefined, bytes: number): void {
  if (bounds === undefined || bytes <= bounds.storedBytesMax) return;
  throw new TooLargeHereError(`a stored object of ${String(bytes)} bytes`);
}

/** The fewest bytes of a value, with its comma. */
const VALUE_BYTES_MIN = 2;

/**
 * Throws TooLargeHereError for a value with too many values in it. Values are not counted if `bytes`, from which it
 * was parsed, are too few for that. Never without bounds.
 */
export function keepValuesWithin(bounds: LoopBounds | undefined, value: unknown, bytes: number): void {
  if (bounds === undefined || bytes <= bounds.valuesMax * VALUE_BYTES_MIN) return;
  if (valuesLeft(value, bounds.valuesMax) < 0) {
    throw new TooLargeHereError(`more than ${String(bounds.valuesMax)} values`);
  }
}

/**
 * The same for a value parsed from, or formatted as, so many bytes of JSON. Counting stops as soon as the remaining
 * bytes cannot hold too many values: for most objects within their metadata.
 */
export function keepJsonWithin(bounds: LoopBounds | undefined, value: unknown, bytes: number): void {
  if (bounds === undefined || bytes <= bounds.valuesMax * VALUE_BYTES_MIN) return;
  const rest = { values: bounds.valuesMax, bytes };
  countUntilDecided(value, rest);
  if (rest.values < 0) throw new TooLargeHereError(`more than ${String(bounds.valuesMax)} values`);
}

/** The remaining budget of values, and the bytes not yet accounted for. */
interface Rest {
  values: number;
  bytes: number;
}

/** The two quotes of a string. Each character takes at least a byte. */
const QUOTES_BYTES = 2;
/** The two quotes and the colon of a name. */
const NAME_BYTES = 3;

/**
 * Counts this value and those in it, and subtracts the fewest bytes they can take. Returns whether the result is
 * decided.
 */
function countUntilDecided(value: unknown, rest: Rest): boolean {
  rest.values -= 1;
  if (typeof value === 'string') rest.bytes -= value.length + QUOTES_BYTES;
  else if (typeof value !== 'object' || value === null) rest.bytes -= 1;
  else if (Array.isArray(value)) {
    for (const each of value) if (countUntilDecided(each, rest)) return true;
  } else {
    const members = value as Readonly<Record<string, unknown>>;
    for (const name in members) {
      const each = members[name];
      // JSON omits it.
      if (each === undefined) continue;
      rest.bytes -= name.length + NAME_BYTES;
      if (countUntilDecided(each, rest)) return true;
    }
  }
  return rest.values < 0 || rest.bytes <= rest.values * VALUE_BYTES_MIN;
}

/**
 * Returns how many of `max` values are left after counting this one and those in it; negative as soon as there are
 * more. Allocates nothing and recurses only into values that have values.
 */
function valuesLeft(value: unknown, max: number): number {
  let left = max - 1;
  if (typeof value !== 'object' || value === null) return left;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at += 1) {
      const each: unknown = value[at];
      left = typeof each === 'object' ? valuesLeft(each, left) : left - 1;
    }
    return left;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    if (left < 0) break;
    const each = members[name];
    left = typeof each === 'object' ? valuesLeft(each, left) : left - 1;
  }
  return left;
}
