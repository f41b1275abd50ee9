import type { CelType } from '../check/types';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  NULL,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
  listOf,
  mapOf,
  optionalOf,
} from '../check/types';

/**
 * A value of the language: `int` is a bigint, `double` a number, `string` a string, and the other kinds are classes.
 * Strings are measured in characters (code points), as the language defines it.
 */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | ListValue
  | MapValue
  | TypeValue
  | OptionalValue
  | OpaqueValue;

/** What an evaluation returns: errors are values, because `&&` and `||` may absorb them. */
export type Result = Value | EvalError;

/** An error of an evaluation, in cel-go's words. */
export class EvalError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export const NO_OVERLOAD = new EvalError('no such overload');

/** An unsigned number of 64 bits. */
export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** A moment, in nanoseconds since 1970 in UTC, with the offset in minutes that it is written with. */
export class Timestamp {
  readonly nanoseconds: bigint;
  readonly offsetMinutes: number;

  constructor(nanoseconds: bigint, offsetMinutes = 0) {
    this.nanoseconds = nanoseconds;
    this.offsetMinutes = offsetMinutes;
  }
}

export class Duration {
  readonly nanoseconds: bigint;

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

/** A type as a value: what `type(x)` returns and what a name of a type means. */
export class TypeValue {
  readonly type: CelType;

  constructor(type: CelType) {
    this.type = type;
  }
}

export class OptionalValue {
  static readonly none = new OptionalValue(undefined);
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** A value that a library defines, such as an address or a quantity. */
export abstract class OpaqueValue {
  abstract readonly type: CelType;
  /** Compares with another value of the same type. */
  abstract equals(other: OpaqueValue): boolean;
  /** The size that costs are computed from; undefined for values that have none and count as 1. */
  readonly size: number | undefined = undefined;
  /** For named formats, the length of the pattern that their cost is computed from. */
  readonly patternLength: number | undefined = undefined;
}

/** A list. Subclasses may read other data and convert elements on access. */
export abstract class ListValue {
  abstract readonly size: number;
  /** Returns the element at an index from 0 to size - 1. */
  abstract at(index: number): Value;

  /** Compares with another list in a way of its own; undefined for element by element. */
  equalsSpecially(_other: ListValue): boolean | undefined {
    return undefined;
  }

  /** Adds a list in a way of its own; undefined for one after the other. */
  concatSpecially(_other: ListValue): ListValue | undefined {
    return undefined;
  }

  *[Symbol.iterator](): IterableIterator<Value> {
    for (let index = 0; index < this.size; index += 1) yield this.at(index);
  }
}

/** What a map can be looked up by; numbers of all kinds with the same value are one key. */
export type MapKey = string | boolean | bigint;

/** A map, or an object with fields. */
export abstract class MapValue {
  abstract readonly size: number;
  /** Returns the value of a key, or undefined when it is absent. */
  abstract find(key: MapKey): Value | undefined;
  /** Returns the keys in the order in which comprehensions visit them. */
  abstract keys(): readonly Value[];

  /** Returns the value of a key, computing it if necessary, or the error of computing it. */
  resolve(key: MapKey): Result | undefined {
    return this.find(key);
  }

  /** Compares with another map in a way of its own; undefined for key by key. */
  equalsSpecially(_other: MapValue): boolean | undefined {
    return undefined;
  }

  /** Whether `has()` finds the key. */
  has(key: MapKey): boolean {
    return this.find(key) !== undefined;
  }
}

/** The longest list that a concatenation copies; longer ones are only referenced. */
const APPENDED_MAX = 8;

/** A list over an array, which is never changed below `size`. */
export class ArrayList extends ListValue {
  readonly size: number;
  readonly #items: Value[];
  /** Only a list made by concatenation may append to the array it shares; others belong to their makers. */
  readonly #isGrowable: boolean;

  constructor(items: Value[], size = items.length, isGrowable = false) {
    super();
    this.#items = items;
    this.size = size;
    this.#isGrowable = isGrowable;
  }

  override at(index: number): Value {
    return this.#items[index] ?? null;
  }

  /** Returns this list and a few elements more, or undefined when that would copy many. */
  append(other: ListValue): ArrayList | undefined {
    const isLongest = this.#isGrowable && this.#items.length === this.size;
    if (!isLongest && this.size > APPENDED_MAX) return undefined;
    const items = isLongest ? this.#items : this.#items.slice(0, this.size);
    for (const item of other) items.push(item);
    return new ArrayList(items, items.length, true);
  }
}

/** Two lists, one after the other, without copying them. */
class ConcatList extends ListValue {
  readonly size: number;
  readonly #left: ListValue;
  readonly #right: ListValue;

  constructor(left: ListValue, right: ListValue) {
    super();
    this.#left = left;
    this.#right = right;
    this.size = left.size + right.size;
  }

  override at(index: number): Value {
    return index < this.#left.size ? this.#left.at(index) : this.#right.at(index - this.#left.size);
  }

  override *[Symbol.iterator](): IterableIterator<Value> {
    yield* this.#left;
    yield* this.#right;
  }
}

/** Concatenates two lists in time that does not depend on their sizes, as costs assume. */
export function concatLists(left: ListValue, right: ListValue): ListValue {
  const special = left.concatSpecially(right);
  if (special !== undefined) return special;
  if (right.size === 0) return left;
  const appended = left instanceof ArrayList && right.size <= APPENDED_MAX ? left.append(right) : undefined;
  if (appended !== undefined) return appended;
  return left.size === 0 ? right : new ConcatList(left, right);
}

/** A map over entries, as literals and transformations make them. */
export class EntryMap extends MapValue {
  readonly #entries: Map<MapKey, readonly [Value, Value]>;

  constructor(entries: Map<MapKey, readonly [Value, Value]>) {
    super();
    this.#entries = entries;
  }

  override get size(): number {
    return this.#entries.size;
  }

  override find(key: MapKey): Value | undefined {
    return this.#entries.get(key)?.[1];
  }

  override keys(): Value[] {
    return Array.from(this.#entries.values(), ([key]) => key);
  }
}

/** An object of a named type, as `Object.spec{replicas: 3}` makes it. */
export class StructValue extends MapValue {
  readonly typeName: string;
  readonly fields: ReadonlyMap<string, Value>;

  constructor(typeName: string, fields: ReadonlyMap<string, Value>) {
    super();
    this.typeName = typeName;
    this.fields = fields;
  }

  override get size(): number {
    return this.fields.size;
  }

  override find(key: MapKey): Value | undefined {
    return typeof key === 'string' ? this.fields.get(key) : undefined;
  }

  override keys(): Value[] {
    return Array.from(this.fields.keys());
  }

  override equalsSpecially(other: MapValue): boolean | undefined {
    return other instanceof StructValue && other.typeName === this.typeName ? undefined : false;
  }
}

/** Returns the key that a value is looked up by; undefined for values that are never keys. */
export function mapKeyOf(value: Value): MapKey | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint') return value;
  if (value instanceof Uint) return value.value;
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  return undefined;
}

const LIST_TYPE = listOf(DYN);
const MAP_TYPE = mapOf(DYN, DYN);
const OPTIONAL_TYPE = optionalOf(DYN);

/** Returns the type of a value at run time; containers do not know their parameters. */
export function typeOfValue(value: Value): CelType {
  if (typeof value === 'string') return STRING;
  if (typeof value === 'bigint') return INT;
  if (typeof value === 'boolean') return BOOL;
  return typeof value === 'number' ? DOUBLE : typeOfObject(value);
}

function typeOfObject(value: Exclude<Value, boolean | bigint | number | string>): CelType {
  if (value === null) return NULL;
  if (value instanceof ListValue) return LIST_TYPE;
  if (value instanceof MapValue) return MAP_TYPE;
  if (value instanceof Uint8Array) return BYTES;
  if (value instanceof Uint) return UINT;
  if (value instanceof Timestamp) return TIMESTAMP;
  if (value instanceof Duration) return DURATION;
  if (value instanceof TypeValue) return TYPE;
  return value instanceof OptionalValue ? OPTIONAL_TYPE : value.type;
}

/** Counts the characters of a string; a surrogate pair is one. */
export function characterCount(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) count -= 1;
  }
  return count;
}

/** Returns the size that costs are computed from: of strings, bytes, lists and maps; 1 for anything else. */
export function costSizeOf(value: Result): number {
  if (typeof value === 'string') return characterCount(value);
  if (typeof value !== 'object' || value === null) return 1;
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof OptionalValue) return value.value === undefined ? 1 : costSizeOf(value.value);
  return value instanceof OpaqueValue ? (value.size ?? 1) : 1;
}
