import { compareKeys } from '../../shared/meta/key-order';
import { stringifyExact } from '../../shared/schema/exact-json';

/**
 * Any JSON value as text in a cell: text as it is, objects and lists as JSON with sorted keys, numbers in the shortest form that Go
 * prints, and `<no value>` for null.
 */
export function printedText(value: unknown): string {
  if (value === null || value === undefined) return '<no value>';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  return sortedJson(value).replace(ESCAPED, escaped);
}

/** Whole numbers of 64 bits are integers wherever they come from, because that is what is read back from the store. */
function numberText(value: number): string {
  const isInteger = Number.isInteger(value) && Math.abs(value) < 2 ** 63;
  return isInteger ? String(BigInt(value)) : floatText(value);
}

/** Where Go turns from a decimal point to an exponent: at 0.0001 and below, and at a million. */
const EXPONENT_MIN = -4;
const EXPONENT_MAX = 5;

function floatText(value: number): string {
  const [digits = '', exponentText = '0'] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent >= EXPONENT_MIN && exponent <= EXPONENT_MAX) return String(value);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function sortedJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return stringifyExact(value);
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  const entries = Object.entries(value).toSorted(([a], [b]) => compareKeys(a, b));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${sortedJson(each)}`).join(',')}}`;
}

/** Characters that Go writes as escapes because they mean something in HTML or in JavaScript. */
const ESCAPED = /[<>&\u2028\u2029]/gu;

function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
