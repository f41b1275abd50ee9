import { goFloat } from '../../../shared/structural/go-text';
import { canonicalText } from '../../../shared/structural/unique-key';

/**
 * Any JSON value as text in a cell: text as it is, objects and lists as JSON with sorted keys, numbers in the shortest form that Go
 * prints, and `<no value>` for null.
 */
export function printedText(value: unknown): string {
  if (value === null || value === undefined) return '<no value>';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  return canonicalText(value).replace(ESCAPED, escaped);
}

/** Whole numbers of 64 bits are integers wherever they come from, because that is what is read back from the store. */
function numberText(value: number): string {
  const isInteger = Number.isInteger(value) && Math.abs(value) < 2 ** 63;
  return isInteger ? String(BigInt(value)) : goFloat(value);
}

/** Characters that Go writes as escapes because they mean something in HTML or in JavaScript. */
const ESCAPED = /[<>&\u2028\u2029]/gu;

function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
