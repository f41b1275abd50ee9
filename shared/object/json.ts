import type { Unchecked } from './values';

/** Decoded JSON as conversions and defaults see it: never changed, only copied with differences. */
export type Json = Readonly<Record<string, unknown>>;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of a T that nobody has looked at; none where the value is no object. */
export function fields<T extends object>(value: unknown): Unchecked<T> {
  return (isJson(value) ? value : {}) as Unchecked<T>;
}

/** The object at `name`, or undefined. */
export function objectAt(object: Json, name: string): Json | undefined {
  const value = object[name];
  return isJson(value) ? value : undefined;
}

/** The objects in the list at `name`; empty when there is no list. */
export function objectsAt(object: Json, name: string): readonly Json[] {
  const value = object[name];
  return Array.isArray(value) ? value.filter(isJson) : [];
}

/** The text at `name`; empty when there is none. */
export function textAt(object: Json, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}

export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** True when there is a value at `name` that is neither undefined nor null. */
export function has(object: Json, name: string): boolean {
  return isGiven(object[name]);
}

/** A copy without the members that are undefined. */
export function compact(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

/** A copy without these members. */
export function without(object: Json, ...names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** A copy in which the object at `name`, if there is one, is replaced by `change` of it. */
export function changeObject(object: Json, name: string, change: (value: Json) => Json): Json {
  const value = objectAt(object, name);
  return value === undefined ? object : { ...object, [name]: change(value) };
}

/** A copy in which every object of the list at `name`, if there is one, is replaced by `change` of it. */
export function changeList(object: Json, name: string, change: (value: Json) => Json): Json {
  const list = object[name];
  if (!Array.isArray(list)) return object;
  return { ...object, [name]: list.map((each: unknown) => (isJson(each) ? change(each) : each)) };
}
