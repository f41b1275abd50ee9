/**
 * What one request may bring to the loop that serves everybody: so much that no step of it takes longer than a few milliseconds. What is larger
 * is carried out by another thread, from the beginning (ADR 38).
 */
export interface LoopBounds {
  /** Bytes of a body, by how it is written. */
  readonly bodyBytesMax: Readonly<Record<BodySyntax, number>>;
  /** Bytes of an object as it is stored, where it has to be parsed. */
  readonly storedBytesMax: number;
  /** Values of JSON, and keys not counted, in one body or object. */
  readonly valuesMax: number;
}

export type BodySyntax = 'json' | 'yaml' | 'protobuf';

/** The request is too large for this loop. Nothing has been changed for it. */
export class TooLargeHereError extends Error {
  constructor(what: string) {
    super(`too large for the loop that serves everybody: ${what}`);
    this.name = 'TooLargeHereError';
  }
}

const KIB = 1_024;

/**
 * Measured: the worst value, an empty element of a list with rules of its own, costs 7 µs from the parser to the answer, and twice as much
 * before its code has been compiled; the worst byte of JSON takes 16 ns to parse, of YAML 1 µs.
 */
export const LOOP_BOUNDS: LoopBounds = {
  bodyBytesMax: { json: 128 * KIB, yaml: 4 * KIB, protobuf: 32 * KIB },
  storedBytesMax: 128 * KIB,
  valuesMax: 1_500,
};

/** For answers in YAML, of which each byte costs more than any other step. */
export const LOOP_BOUNDS_OF_YAML: LoopBounds = {
  ...LOOP_BOUNDS,
  bodyBytesMax: { json: 16 * KIB, yaml: 4 * KIB, protobuf: 8 * KIB },
  storedBytesMax: 16 * KIB,
};

/** Throws TooLargeHereError for a body that is not to be parsed here. Without bounds, never. */
export function keepBodyWithin(bounds: LoopBounds | undefined, bytes: number, syntax: BodySyntax): void {
  if (bounds === undefined || bytes <= bounds.bodyBytesMax[syntax]) return;
  throw new TooLargeHereError(`a body of ${String(bytes)} bytes`);
}

/** Throws TooLargeHereError for a stored object that is not to be parsed here. Without bounds, never. */
export function keepStoredWithin(bounds: LoopBounds | undefined, bytes: number): void {
  if (bounds === undefined || bytes <= bounds.storedBytesMax) return;
  throw new TooLargeHereError(`a stored object of ${String(bytes)} bytes`);
}

/** In the fewest bytes that a value can take, its comma among them. */
const VALUE_BYTES_MIN = 2;

/**
 * Throws TooLargeHereError for a value that consists of too many. `bytes` are those that it was read from, which need not be looked at if so
 * few cannot hold too many. Without bounds, never.
 */
export function keepValuesWithin(bounds: LoopBounds | undefined, value: unknown, bytes: number): void {
  if (bounds === undefined || bytes <= bounds.valuesMax * VALUE_BYTES_MIN) return;
  if (valuesLeft(value, bounds.valuesMax) < 0) {
    throw new TooLargeHereError(`more than ${String(bounds.valuesMax)} values`);
  }
}

/**
 * The same for a value that was read from so many bytes of JSON, or is written in them. It is not counted any further than until the bytes that
 * are left cannot hold too many: of most objects that is the first part of their metadata.
 */
export function keepJsonWithin(bounds: LoopBounds | undefined, value: unknown, bytes: number): void {
  if (bounds === undefined || bytes <= bounds.valuesMax * VALUE_BYTES_MIN) return;
  const rest = { values: bounds.valuesMax, bytes };
  countUntilDecided(value, rest);
  if (rest.values < 0) throw new TooLargeHereError(`more than ${String(bounds.valuesMax)} values`);
}

/** What may come before there are too many values, and the bytes that are not accounted for yet. */
interface Rest {
  values: number;
  bytes: number;
}

/** What a text takes beside its characters, each of which takes a byte at least: two quotes. */
const QUOTES_BYTES = 2;
/** And a name before its value: two quotes and a colon. */
const NAME_BYTES = 3;

/** Counts this value and those in it, and takes the fewest bytes they can have been written in. Returns whether it is decided. */
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
      // It is not written.
      if (each === undefined) continue;
      rest.bytes -= name.length + NAME_BYTES;
      if (countUntilDecided(each, rest)) return true;
    }
  }
  return rest.values < 0 || rest.bytes <= rest.values * VALUE_BYTES_MIN;
}

/**
 * How many values are left of `max` when this one and those in it are counted; negative as soon as there are more. It allocates nothing, and
 * goes as deep as JSON may, with a call for what has values in it only: those are a few of many.
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
