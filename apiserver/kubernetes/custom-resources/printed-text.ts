import { escapeAsGoJson } from '../../../shared/errors/go-values';
import { goFloat } from '../../../shared/structural/go-text';
import { canonicalText } from '../../../shared/structural/unique-key';

/**
 * Prints any JSON value as cell text. Strings are unchanged, objects and lists are JSON with sorted keys, numbers have Go's shortest
 * form, and null is `<no value>`.
 */
export function printedText(value: unknown): string {
  if (value === null || value === undefined) return '<no value>';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  return escapeAsGoJson(canonicalText(value));
}

/** Integers of 64 bits print as integers, because the store returns them as such. */
function numberText(value: number): string {
  const isInteger = Number.isInteger(value) && Math.abs(value) < 2 ** 63;
  return isInteger ? String(BigInt(value)) : goFloat(value);
}
