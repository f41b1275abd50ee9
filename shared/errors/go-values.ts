import { isInForce } from '../api/changes';
import type { Int64 } from '../object/values';
import { goQuote } from './go-quote';

const HAS_JSON = isInForce('jsonValuesInErrors');

/** How an error shows a value that is nil. */
export const NIL_TEXT = HAS_JSON ? 'null' : '"null"';
/** How an error shows an unsigned zero. */
export const ZERO_TEXT = HAS_JSON ? '0' : '0x0';

/** Escapes the characters of JSON text that Go's encoder escapes for HTML and JavaScript. */
export function escapeAsGoJson(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * A value that an error shows in Go's syntax, as upstream does. It is formatted on first read, since many
 * errors may show the same long value.
 */
export class GoValue {
  readonly #text: () => string;

  constructor(text: () => string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text();
  }
}

/** Formats a list of strings: `[]string{"a", "b"}`; `type` is the type of its items. */
export function goStrings(values: readonly string[], type = 'string'): GoValue {
  return new GoValue(() => `[]${type}{${values.map(goQuote).join(', ')}}`);
}

/** Formats a list of integers: `[]int64{1, 5}`. */
export function goIntegers(values: readonly Int64[]): GoValue {
  return new GoValue(() => `[]int64{${values.map(String).join(', ')}}`);
}

/** Formats an empty list. Go distinguishes nil from `[]`; rules see neither. */
export function goNoItems(type: string): GoValue {
  return new GoValue(() => `[]${type}(nil)`);
}

/** Formats the bytes of base64 text: `[]byte{0x67, 0x61}`. */
export function goBytes(encoded: string | null | undefined): GoValue {
  if (encoded === null || encoded === undefined) return goNoItems('byte');
  return new GoValue(() => {
    const bytes = Array.from(Buffer.from(encoded, 'base64'), (byte) => `0x${byte.toString(16)}`);
    return `[]byte{${bytes.join(', ')}}`;
  });
}

/** Formats a map of strings with sorted keys: `map[string]string{"a":"b"}`. */
export function goStringMap(map: Readonly<Record<string, string>> | undefined): GoValue {
  return new GoValue(() => {
    if (map === undefined) return 'map[string]string(nil)';
    const entries = Object.keys(map).sort();
    return `map[string]string{${entries.map((key) => `${goQuote(key)}:${goQuote(map[key] ?? '')}`).join(', ')}}`;
  });
}

/** Formats a struct, `core.PodIP{IP:"10.0.0.1"}`, from values in Go's syntax. */
export function goStruct(type: string, fields: Readonly<Record<string, string>>): GoValue {
  const written = Object.entries(fields).map(([name, value]) => `${name}:${value}`);
  return new GoValue(() => `${type}{${written.join(', ')}}`);
}

/** Formats a list of structs. */
export function goStructs(type: string, items: readonly GoValue[]): GoValue {
  return new GoValue(() => `[]${type}{${items.join(', ')}}`);
}

/**
 * Formats a time of whole seconds in UTC, `2021-01-01 00:00:00 +0000 UTC`; an invalid one is returned as it
 * is.
 */
export function goTime(time: string | null | undefined): GoValue | string | null {
  const [, date, clock] = TIME.exec(time ?? '') ?? [];
  if (date === undefined || clock === undefined) return time ?? null;
  return new GoValue(() => `${date} ${clock} +0000 UTC`);
}

/** Formats a time in Go's syntax: `time.Date(2021, time.March, 4, 5, 6, 7, 0, time.Local)`. */
export function goDate(time: string | null | undefined): string {
  if (time === null || time === undefined) return '<nil>';
  const date = new Date(time);
  const parts = [date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds(), 0];
  const month = MONTHS[date.getUTCMonth()] ?? '';
  return `time.Date(${String(date.getUTCFullYear())}, time.${month}, ${parts.join(', ')}, time.Local)`;
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2}(?:\.\d+)?)Z$/;
