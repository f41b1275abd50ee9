import { parseDurationMs } from './duration';
import type { FlagRow, StringListRow } from './flag-row';
import { suggestion } from './suggestion';

export type FlagValue = string | number | boolean | readonly string[];

/** A value, or the sentence that says what is wrong with the text. */
export type ParsedValue = { readonly value: FlagValue } | { readonly problem: string };

/** Reads one flag's text. `before` is what the flag held already, when it was given more than once. */
export function parseFlagValue(row: FlagRow, text: string, before: FlagValue | undefined): ParsedValue {
  switch (row.type) {
    case 'string':
      return { value: text };
    case 'int':
      return parseInteger(text, row.min, row.max);
    case 'bool':
      return parseBool(text);
    case 'duration': {
      const value = parseDurationMs(text);
      if (value === undefined) return { problem: 'is no duration; write it like 300ms, 90s, 5m0s or 1h' };
      return value < 0 ? { problem: 'must not be negative' } : { value };
    }
    case 'enum':
      return row.values.includes(text) ? { value: text } : { problem: notOneOf(text, row.values) };
    case 'stringArray':
      return { value: [...(Array.isArray(before) ? (before as readonly string[]) : []), text] };
    case 'stringList':
      break;
  }
  return parseList(row, text, before);
}

/** The value of a row that was not given. */
export function defaultValue(row: FlagRow): FlagValue {
  return row.type === 'duration' ? (parseDurationMs(row.default) ?? Number.NaN) : row.default;
}

function parseInteger(text: string, min: number | undefined, max: number | undefined): ParsedValue {
  const value = Number(text);
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(value)) return { problem: 'is no whole number' };
  if (min !== undefined && value < min) return { problem: `must be at least ${String(min)}` };
  if (max !== undefined && value > max) return { problem: `must be at most ${String(max)}` };
  return { value };
}

const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['t', true],
  ['1', true],
  ['false', false],
  ['f', false],
  ['0', false],
]);

/** Undefined for what is neither. */
export function boolOf(text: string): boolean | undefined {
  return BOOLS.get(text.toLowerCase());
}

function parseBool(text: string): ParsedValue {
  const value = boolOf(text);
  return value === undefined ? { problem: 'is neither true nor false' } : { value };
}

function parseList(row: StringListRow, text: string, before: FlagValue | undefined): ParsedValue {
  const added = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  const allowed = row.values;
  const wrong = allowed === undefined ? undefined : added.find((item) => !allowed.includes(item));
  if (allowed !== undefined && wrong !== undefined) return { problem: notOneOf(wrong, allowed) };
  return { value: [...(Array.isArray(before) ? (before as readonly string[]) : []), ...added] };
}

function notOneOf(text: string, values: readonly string[]): string {
  return `is not one of ${values.join(', ')}${suggestion(text, values)}`;
}
