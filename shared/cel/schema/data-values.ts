import { parseDuration, parseTimestamp } from '../eval/time';
import { isEqual } from '../eval/equality';
import { ArrayList, Duration, ListValue, MapValue, mapKeyOf } from '../eval/values';
import type { MapKey, Value } from '../eval/values';
import type { DataType } from './data-types';
import { escapeName } from './escaping';

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Returns data as a value of expressions. Lists and objects are converted when they are read, so that a rule costs only what it reads
 * (k8s.io/apiserver `cel/common/valuesunstructured.go`). Data that does not fit its schema reads as null.
 */
export function dataValue(data: unknown, type: DataType): Value {
  if (data === null || data === undefined) return null;
  switch (type.kind as string) {
    case 'object':
      return isObject(data) ? new DataObject(data, type) : null;
    case 'map':
      return isObject(data) ? new DataMap(data, type) : null;
    case 'list':
      return Array.isArray(data) ? new DataList(data, type) : null;
    case 'scalar':
      return scalarValue(data, type.celType.kind === 'double');
    case 'intOrString':
      return scalarValue(data, false);
    default:
      return typeof data === 'string' ? textValue(data, type) : null;
  }
}

function isObject(data: unknown): data is JsonObject {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

function scalarValue(data: unknown, isDouble: boolean): Value {
  if (typeof data === 'boolean' || typeof data === 'string') return data;
  if (typeof data !== 'number' && typeof data !== 'bigint') return null;
  if (isDouble) return Number(data);
  return typeof data === 'bigint' || !Number.isInteger(data) ? data : BigInt(data);
}

function textValue(text: string, type: DataType): Value {
  switch (type.kind as string) {
    case 'bytes':
      return Buffer.from(text, 'base64');
    case 'duration': {
      const nanoseconds = parseDuration(text);
      return nanoseconds === undefined ? null : new Duration(nanoseconds);
    }
    case 'date':
      return parseTimestamp(`${text}T00:00:00Z`) ?? null;
    case 'dateTime':
      return parseTimestamp(text) ?? null;
    default:
      return text;
  }
}

/** An object with declared properties. Undeclared ones cannot be read, but objects that differ in them are not equal. */
class DataObject extends MapValue {
  readonly #data: JsonObject;
  readonly #type: DataType;

  constructor(data: JsonObject, type: DataType) {
    super();
    this.#data = data;
    this.#type = type;
  }

  override get size(): number {
    return Object.keys(this.#data).length;
  }

  /** The data of a property by its own name. */
  raw(name: string): unknown {
    return Object.hasOwn(this.#data, name) ? this.#data[name] : undefined;
  }

  override has(key: MapKey): boolean {
    const field = typeof key === 'string' ? this.#type.fields.get(key) : undefined;
    if (field === undefined || !Object.hasOwn(this.#data, field.name)) return false;
    return (this.#data[field.name] ?? undefined) !== undefined;
  }

  override find(key: MapKey): Value | undefined {
    const field = typeof key === 'string' ? this.#type.fields.get(key) : undefined;
    if (field === undefined || !Object.hasOwn(this.#data, field.name)) return undefined;
    const data = this.#data[field.name];
    return data === null || data === undefined ? undefined : dataValue(data, field.type);
  }

  override keys(): Value[] {
    const escaped = new Map<string, string>();
    for (const [written, { name }] of this.#type.fields) {
      if (Object.hasOwn(this.#data, name) && !escaped.has(name)) escaped.set(name, written);
    }
    return Array.from(escaped.values());
  }

  override equalsSpecially(other: MapValue): boolean | undefined {
    if (!(other instanceof DataObject)) return undefined;
    for (const [name, data] of Object.entries(this.#data)) {
      if (this.#type.properties.has(name)) continue;
      if (Object.hasOwn(other.#data, name) && !isSameJson(data, other.#data[name])) return false;
    }
    for (const [name, type] of this.#type.properties) {
      const left = this.raw(name) ?? undefined;
      const right = other.raw(name) ?? undefined;
      if ((left === undefined) !== (right === undefined)) return false;
      if (left !== undefined && !isEqual(dataValue(left, type), dataValue(right, type))) return false;
    }
    return true;
  }
}

class DataMap extends MapValue {
  readonly #data: JsonObject;
  readonly #type: DataType;

  constructor(data: JsonObject, type: DataType) {
    super();
    this.#data = data;
    this.#type = type;
  }

  override get size(): number {
    return Object.keys(this.#data).length;
  }

  override find(key: MapKey): Value | undefined {
    const { element } = this.#type;
    if (typeof key !== 'string' || element === undefined || !Object.hasOwn(this.#data, key)) return undefined;
    return dataValue(this.#data[key], element);
  }

  override keys(): string[] {
    return Object.keys(this.#data);
  }
}

class DataList extends ListValue {
  readonly size: number;
  readonly #data: readonly unknown[];
  readonly #type: DataType;
  /** Elements that were read: comprehensions within comprehensions read them many times. */
  readonly #read: (Value | undefined)[] = [];

  constructor(data: readonly unknown[], type: DataType) {
    super();
    this.#data = data;
    this.#type = type;
    this.size = data.length;
  }

  override at(index: number): Value {
    const { element } = this.#type;
    if (element === undefined) return null;
    return (this.#read[index] ??= dataValue(this.#data[index], element));
  }

  override equalsSpecially(other: ListValue): boolean | undefined {
    const { listType } = this.#type;
    if (listType !== 'set' && listType !== 'map') return undefined;
    if (other.size !== this.size) return false;
    const items = this.#byKey(this);
    const others = this.#byKey(other);
    if (items.size !== others.size) return false;
    return Array.from(items).every(([key, item]) => {
      const counterpart = others.get(key);
      return counterpart !== undefined && isEqual(item, counterpart);
    });
  }

  /** Adds an element to a set only once, and replaces the element of a keyed list that has the same keys. */
  override concatSpecially(other: ListValue): ListValue | undefined {
    const { listType } = this.#type;
    if (listType !== 'set' && listType !== 'map') return undefined;
    const items = this.#byKey(this);
    for (const [key, item] of this.#byKey(other))
      if (listType === 'map' || !items.has(key)) items.set(key, item);
    return new ArrayList(Array.from(items.values()));
  }

  #byKey(list: ListValue): Map<string, Value> {
    const { listType, listMapKeys } = this.#type;
    const keyOf = (item: Value): string =>
      listType === 'map' ? identityOf(item, listMapKeys) : scalarKey(item);
    return new Map(Array.from(list, (item) => [keyOf(item), item] as const));
  }
}

/** Writes the keys of an item; data knows its properties also by names that expressions cannot write. */
function identityOf(item: Value, keys: readonly string[]): string {
  const values = keys.map((name) => {
    if (item instanceof DataObject) return JSON.stringify(item.raw(name)) ?? '';
    return item instanceof MapValue
      ? scalarKey(item.find(escapeName(name) ?? name) ?? null)
      : scalarKey(item);
  });
  return values.join('\0');
}

function scalarKey(item: Value): string {
  const key = mapKeyOf(item);
  return typeof key === 'bigint' ? String(key) : JSON.stringify(key ?? item);
}

/** Compares two JSON values; the order of keys does not matter. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSameJson(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && isSameJson(a[name], b[name]));
}
