import { isJsonObject } from './clone';
import type { ReadonlyJson } from './json';
import type { Int64, Unchecked } from './values';

/*
 * Typed views of decoded JSON: what is missing, or of another type, reads as its zero, and nothing throws, so that a rule can be written
 * without asking for each step whether it is there.
 */

const NOTHING: ReadonlyJson = {};

/** Returns the message, or an empty one. */
export function record(value: unknown): ReadonlyJson {
  return isJsonObject(value) ? value : NOTHING;
}

/** Returns the message, or undefined for an absent pointer. */
export function optionalRecord(value: unknown): ReadonlyJson | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** Returns the messages of a list; an absent list is empty. */
export function records(value: unknown): readonly ReadonlyJson[] {
  if (!Array.isArray(value)) return [];
  return value.every(isJsonObject) ? value : value.map(record);
}

/** Returns the unchecked fields of a message of this type; none where the value is no message. */
export function fieldsOf<T extends object>(value: unknown): Unchecked<T> {
  return record(value) as Unchecked<T>;
}

/** Returns the unchecked fields of each message of a list; an absent list is empty. */
export function fieldsOfEach<T extends object>(value: unknown): readonly Unchecked<T>[] {
  return records(value) as readonly Unchecked<T>[];
}

/** Returns the strings of a list; an absent list is empty. */
export function strings(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.every((each) => typeof each === 'string') ? value : value.map(text);
}

/** Returns the string, or ''. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the string, or undefined for an absent pointer. */
export function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns the integer, or undefined: a bigint where a number would not be exact. */
export function integer(value: unknown): Int64 | undefined {
  return typeof value === 'number' || typeof value === 'bigint' ? value : undefined;
}

/** Returns a map of strings; empty where it is absent. */
export function stringMap(value: unknown): Readonly<Record<string, string>> {
  return isJsonObject(value) ? (value as Readonly<Record<string, string>>) : {};
}

/** True for Go's zero value: '', 0, false, an empty list or map, a message of such values, null, or absent. */
export function isZero(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.values(value).every(isZero);
}

/** Returns typed keys of an object that has exactly the fields of its type. */
export function keysOf<T extends object>(object: T): readonly (keyof T & string)[] {
  return Object.keys(object) as (keyof T & string)[];
}
