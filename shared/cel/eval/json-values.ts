import { formatDuration, formatTimestamp } from './time';
import {
  Duration,
  ListValue,
  MapValue,
  OptionalValue,
  StructValue,
  Timestamp,
  Uint,
  mapKeyOf,
  typeOfValue,
} from './values';
import type { MapKey, Value } from './values';

type JsonObject = Readonly<Record<string, unknown>>;

/** Returns JSON as a value of expressions without a schema. Lists and objects are converted when they are read. */
export function jsonValue(data: unknown): Value {
  if (typeof data === 'string' || typeof data === 'boolean' || typeof data === 'bigint') return data;
  if (typeof data === 'number') return Number.isInteger(data) ? BigInt(data) : data;
  if (data === null || typeof data !== 'object') return null;
  return Array.isArray(data) ? new JsonList(data) : new JsonMap(data as JsonObject);
}

class JsonMap extends MapValue {
  readonly #data: JsonObject;
  #names: readonly string[] | undefined;

  constructor(data: JsonObject) {
    super();
    this.#data = data;
  }

  override get size(): number {
    return this.keys().length;
  }

  override find(key: MapKey): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.#data, key)) return undefined;
    const data = this.#data[key];
    return data === undefined ? undefined : jsonValue(data);
  }

  override keys(): readonly string[] {
    return (this.#names ??= Object.keys(this.#data).filter((name) => this.#data[name] !== undefined));
  }
}

class JsonList extends ListValue {
  readonly size: number;
  readonly #data: readonly unknown[];

  constructor(data: readonly unknown[]) {
    super();
    this.#data = data;
    this.size = data.length;
  }

  override at(index: number): Value {
    return jsonValue(this.#data[index]);
  }
}

/** Thrown for values that JSON has no form for. */
export class NoJsonError extends Error {}

/**
 * Returns a value as JSON (cel-go `ConvertToNative` to a JSON value): bytes as base64, times and durations as text.
 *
 * @throws NoJsonError for types, opaque values and keys that are not strings
 */
export function toJson(value: Value): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'string' || typeof value === 'number')
    return value;
  if (typeof value === 'bigint') return integer(value);
  if (value instanceof Uint) return integer(value.value);
  if (value instanceof ListValue) return Array.from(value, toJson);
  if (value instanceof StructValue) return mapJson(value);
  if (value instanceof MapValue) return mapJson(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof OptionalValue) return value.value === undefined ? null : toJson(value.value);
  throw new NoJsonError(`no conversion to JSON of type '${typeOfValue(value).name}'`);
}

/** Integers that a number cannot hold stay exact. */
function integer(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function mapJson(map: MapValue): object {
  return Object.fromEntries(
    map.keys().map((key) => {
      if (typeof key !== 'string')
        throw new NoJsonError(`map key of type ${typeOfValue(key).name}, not string`);
      return [key, toJson(map.find(mapKeyOf(key) ?? '') ?? null)];
    }),
  );
}
