/** Values as Go's fmt prints them, because messages of upstream contain them in this form. */

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

/** What stands in quotes as it is. */
const PLAIN = /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/;

/** `%q`. */
export function goQuote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return JSON.stringify(text)
    .replaceAll(/\\u00([01][0-9a-f])/g, (_, code: string) => CONTROLS[code] ?? `\\x${code}`)
    .replaceAll('\u007f', '\\x7f')
    .replaceAll(/[\u0080-\u00a0\u00ad\u2028\u2029\ufeff]/g, (character) => `\\u${hex(character)}`);
}

/** JSON writes these two by number. */
const CONTROLS: Readonly<Record<string, string>> = { '07': '\\a', '0b': '\\v' };

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
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

function scalar(value: unknown): string {
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value);
  return String(value);
}
