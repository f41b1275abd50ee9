import { isJsonObject } from './clone';
import type { ReadonlyJson } from './json';
import type { Unchecked } from './values';

/*
 * Typed views of decoded JSON: what is missing, or of another type, reads as its zero, and nothing throws, so that a rule can be written
 * without asking for each step whether it is there.
 */

const NOTHING: ReadonlyJson = {};

/** The message, or an empty one. */
export function record(value: unknown): ReadonlyJson {
  return isJsonObject(value) ? value : NOTHING;
}

/** The message, or undefined where there is none: a pointer that may be nil. */
export function optionalRecord(value: unknown): ReadonlyJson | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** The messages of a list; an absent list is empty. */
export function records(value: unknown): readonly ReadonlyJson[] {
  if (!Array.isArray(value)) return [];
  return value.every(isJsonObject) ? value : value.map(record);
}

/** The fields that a message of this type has, whatever is in them; none where the value is no message. */
export function fieldsOf<T extends object>(value: unknown): Unchecked<T> {
  return record(value) as Unchecked<T>;
}

/** The same for each message of a list; an absent list is empty. */
export function fieldsOfEach<T extends object>(value: unknown): readonly Unchecked<T>[] {
  return records(value) as readonly Unchecked<T>[];
}

/** The strings of a list; an absent list is empty. */
export function strings(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.every((each) => typeof each === 'string') ? value : value.map(text);
}

/** The string, or ''. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The string, or undefined where there is none: a pointer that may be nil. */
export function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The integer, or undefined. Integers beyond 53 bits lose their last digits, which no range check needs. */
export function integer(value: unknown): number | undefined {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' ? value : undefined;
}

/** The entries of a map of strings. */
export function stringMap(value: unknown): Readonly<Record<string, string>> {
  return isJsonObject(value) ? (value as Readonly<Record<string, string>>) : {};
}

/** True for '', 0, false, an empty list or map, a message of such values, null and an absent value: Go's zero value. */
export function isZero(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.values(value).every(isZero);
}
