import { convertToString } from '../eval/convert';
import { plainDecimal } from '../eval/decimals';
import { compareStrings } from '../eval/equality';
import { EvalError, ListValue, MapValue, TypeValue, Uint, mapKeyOf, typeOfValue } from '../eval/values';
import type { Result, Value } from '../eval/values';

const CLAUSE = /%(?:%|(?:\.(\d+))?(.)?)/gsu;
const DEFAULT_PRECISION = 6;

/** Formats one argument of a clause, or returns what is wrong. */
type Clause = (value: Value, precision: number) => string | EvalError;

const CLAUSES = new Map<string, Clause>([
  ['s', formatValue],
  ['d', (value) => formatDecimal(value)],
  ['f', (value, precision) => formatNumber(value, 'fixed-point', (number) => fixed(number, precision))],
  ['e', (value, precision) => formatNumber(value, 'scientific', (number) => scientific(number, precision))],
  [
    'b',
    (value) =>
      typeof value === 'boolean'
        ? String(Number(value))
        : formatRadix(value, 2, 'ints, uints, and bools can be formatted as binary'),
  ],
  ['x', formatHex],
  ['X', (value) => mapText(formatHex(value), (text) => text.toUpperCase())],
  ['o', (value) => formatRadix(value, 8, 'ints and uints can be formatted as octal')],
]);

/** Replaces the clauses of a text, such as `%s` and `%.2f`, by the elements of a list (cel-go `ext/formatting.go`). */
export function formatText(text: string, args: ListValue): Result {
  let problem: EvalError | undefined;
  let next = 0;
  const result = text.replaceAll(
    CLAUSE,
    (clause: string, precision: string | undefined, letter: string | undefined) => {
      if (clause === '%%' || problem !== undefined) return '%';
      const format = letter === undefined ? undefined : CLAUSES.get(letter);
      let formatted: string | EvalError;
      if (letter === undefined) formatted = new EvalError('unexpected end of string');
      else if (format === undefined)
        formatted = new EvalError(
          `could not parse formatting clause: unrecognized formatting clause "${letter}"`,
        );
      else if (next >= args.size) formatted = new EvalError(`index ${next} out of range`);
      else formatted = format(args.at(next), precision === undefined ? DEFAULT_PRECISION : Number(precision));
      next += 1;
      if (typeof formatted === 'string') return formatted;
      problem =
        letter === undefined || format === undefined || next > args.size
          ? formatted
          : new EvalError(`error during formatting: ${formatted.message}`);
      return '';
    },
  );
  return problem ?? result;
}

function mapText(text: string | EvalError, map: (text: string) => string): string | EvalError {
  return typeof text === 'string' ? map(text) : text;
}

function specialNumber(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  return Number.isFinite(value) ? undefined : value > 0 ? 'Infinity' : '-Infinity';
}

function formatDecimal(value: Value): string | EvalError {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint) return String(value.value);
  if (typeof value === 'number') return specialNumber(value) ?? plainDecimal(value);
  return wrongType('decimal', value);
}

function wrongType(clause: string, value: Value): EvalError {
  return new EvalError(
    `${clause} clause can only be used on ints, uints, and doubles, was given ${typeOfValue(value).name}`,
  );
}

function formatNumber(value: Value, clause: string, format: (number: number) => string): string | EvalError {
  const number =
    typeof value === 'bigint' ? Number(value) : value instanceof Uint ? Number(value.value) : value;
  if (typeof number !== 'number') return wrongType(clause, value);
  return specialNumber(number) ?? format(number);
}

/** The most decimals that numbers are written with. */
const DECIMALS_MAX = 100;

/** Writes decimals as Go does: halves are rounded to the even digit. */
function fixed(value: number, precision: number): string {
  const decimals = Math.min(precision, DECIMALS_MAX);
  const rounded = value.toFixed(decimals);
  const exact = value.toFixed(DECIMALS_MAX);
  const cut = exact.indexOf('.') + 1 + decimals;
  if (decimals === DECIMALS_MAX || !/^50*$/u.test(exact.slice(cut))) return rounded;
  const kept = exact.slice(0, cut).replace(/\.$/u, '');
  return /[02468]$/u.test(kept) ? kept : rounded;
}

/** Version 2 of the library writes powers of ten as text of the locale. */
const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function scientific(value: number, precision: number): string {
  const [digits = '', power = '0'] = value.toExponential(Math.min(precision, DECIMALS_MAX)).split('e');
  const exponent = Number(power);
  const raised = Array.from(
    String(Math.abs(exponent)).padStart(2, '0'),
    (digit) => SUPERSCRIPTS[Number(digit)],
  );
  return `${digits}×10${exponent < 0 ? '⁻' : ''}${raised.join('')}`;
}

function formatRadix(value: Value, radix: number, allowed: string): string | EvalError {
  if (typeof value === 'bigint') return value.toString(radix);
  if (value instanceof Uint) return value.value.toString(radix);
  return new EvalError(`only ${allowed}, was given ${typeOfValue(value).name}`);
}

function formatHex(value: Value): string | EvalError {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return formatRadix(value, 16, 'ints, uints, bytes, and strings can be formatted as hex');
}

/** Writes a value as `%s` does: containers with their contents, maps ordered by key. */
function formatValue(value: Value): string | EvalError {
  if (value === null) return 'null';
  if (typeof value === 'number') return specialNumber(value) ?? plainDecimal(value);
  if (value instanceof TypeValue) return value.type.name;
  if (value instanceof ListValue) return joinAll(Array.from(value, formatValue), '[', ']');
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (value instanceof MapValue) {
    const entries = value.keys().map((key) => {
      const name = formatValue(key);
      const content = formatValue(value.find(mapKeyOf(key) ?? '') ?? null);
      return typeof name === 'string' && typeof content === 'string'
        ? `${name}: ${content}`
        : new EvalError('');
    });
    const sorted = entries.toSorted((a, b) =>
      typeof a === 'string' && typeof b === 'string' ? compareStrings(a, b) : 0,
    );
    return joinAll(sorted, '{', '}');
  }
  const text = convertToString(value);
  if (typeof text === 'string') return text;
  return new EvalError(
    `string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${typeOfValue(value).name}`,
  );
}

function joinAll(parts: readonly (string | EvalError)[], open: string, close: string): string | EvalError {
  const problem = parts.find((part) => part instanceof EvalError);
  return problem ?? `${open}${parts.filter((part) => typeof part === 'string').join(', ')}${close}`;
}
