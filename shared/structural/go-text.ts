import { goQuote } from '../errors/go-quote';

/** Values as Go's fmt prints them, because messages of upstream contain them in this form. */

export { goQuote } from '../errors/go-quote';

/** `%v` of a number. Integers of up to 64 bits are integers there, everything else is a float64. */
export function goNumber(value: number | bigint): string {
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : goFloat(value);
}

/** `%v` of a float64: with an exponent of two digits at least where it is below -4 or above 5. */
export function goFloat(value: number): string {
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent <= 5) return String(value);
  const sign = exponent < 0 ? '-' : '+';
  return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** `%#v` of a list of strings. */
export function goStrings(list: readonly string[]): string {
  return `[]string{${list.map(goQuote).join(', ')}}`;
}

/** The value of a field error: texts quoted, null as a quoted word, objects and lists in Go's syntax. */
export function goValue(value: unknown): string {
  if (value === null || value === undefined) return '"null"';
  return typeof value === 'object' ? goSyntax(value) : scalar(value);
}

/** `%#v`. */
function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (typeof value !== 'object') return scalar(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[string]interface {}{${fields.map(([key, each]) => `${goQuote(key)}:${goSyntax(each)}`).join(', ')}}`;
}

/** `%v`. */
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
