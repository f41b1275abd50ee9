import { goQuote } from '../errors/go-quote';
import { NIL_TEXT } from '../errors/go-values';

/** Formats values as Go's fmt package does, since messages of upstream contain them in this form. */

export { goQuote } from '../errors/go-quote';

/** Formats a number as `%v`. Integers of up to 64 bits are integers, everything else is a float64. */
export function goNumber(value: number | bigint): string {
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : goFloat(value);
}

/** Formats a float64 as `%v`: with an exponent of at least two digits where it is below -4 or above 5. */
export function goFloat(value: number): string {
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent <= 5) return String(value);
  const sign = exponent < 0 ? '-' : '+';
  return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** Formats a list of strings as `%#v`. */
export function goStrings(list: readonly string[]): string {
  return `[]string{${list.map(goQuote).join(', ')}}`;
}

/**
 * Formats the value of a field error: strings quoted, objects and lists in Go's syntax.
 */
export function goValue(value: unknown): string {
  if (value === null || value === undefined) return NIL_TEXT;
  return typeof value === 'object' ? goSyntax(value) : scalar(value);
}

/** Formats a value as `%#v`. */
function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (typeof value !== 'object') return scalar(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[string]interface {}{${fields.map(([key, each]) => `${goQuote(key)}:${goSyntax(each)}`).join(', ')}}`;
}

/** Formats a value as `%v`. */
export function goPlain(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return scalar(value);
  if (Array.isArray(value)) return `[${value.map(goPlain).join(' ')}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${fields.map(([key, each]) => `${key}:${goPlain(each)}`).join(' ')}]`;
}

function scalar(value: unknown): string {
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value);
  return String(value);
}
