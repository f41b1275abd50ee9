import type { JsonObject } from './clone';
import { isJsonObject } from './clone';
import type { Unchecked } from './values';

/** A decoded JSON object that is immutable; {@link JsonObject} is one under construction. */
export type ReadonlyJson = Readonly<JsonObject>;

/** Returns the unchecked fields of a T; none where the value is no object. */
export function fields<T extends object>(value: unknown): Unchecked<T> {
  return (isJsonObject(value) ? value : {}) as Unchecked<T>;
}

/** Returns the object at `name`, or undefined. */
export function objectAt(object: ReadonlyJson, name: string): ReadonlyJson | undefined {
  const value = object[name];
  return isJsonObject(value) ? value : undefined;
}

/** Returns the objects in the list at `name`; empty where there is no list. */
export function objectsAt(object: ReadonlyJson, name: string): readonly ReadonlyJson[] {
  const value = object[name];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Returns the string at `name`; empty where there is none. */
export function textAt(object: ReadonlyJson, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}

/** Returns the type of a JSON value as decode errors name it: `null`, `array`, `object`, `string`, `number` or `bool`. */
export function getJsonTypeName(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  if (type === 'boolean') return 'bool';
  return type === 'bigint' ? 'number' : type;
}

export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** True when there is a value at `name` that is neither undefined nor null. */
export function has(object: ReadonlyJson, name: string): boolean {
  return isGiven(object[name]);
}

/** Copies an object without its undefined members. */
export function compact(object: ReadonlyJson): ReadonlyJson {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

/** Copies an object without these members. */
export function without(object: ReadonlyJson, ...names: readonly string[]): ReadonlyJson {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** Copies an object with `change` applied to the object at `name`, if there is one. */
export function changeObject(
  object: ReadonlyJson,
  name: string,
  change: (value: ReadonlyJson) => ReadonlyJson,
): ReadonlyJson {
  const value = objectAt(object, name);
  return value === undefined ? object : { ...object, [name]: change(value) };
}

/** Copies an object with `change` applied to every object of the list at `name`, if there is one. */
export function changeList(
  object: ReadonlyJson,
  name: string,
  change: (value: ReadonlyJson) => ReadonlyJson,
): ReadonlyJson {
  const list = object[name];
  if (!Array.isArray(list)) return object;
  return { ...object, [name]: list.map((each: unknown) => (isJsonObject(each) ? change(each) : each)) };
}
