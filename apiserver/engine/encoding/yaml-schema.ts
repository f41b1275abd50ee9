import type { Schema } from 'js-yaml';
import { DEFAULT_SCHEMA, Type } from 'js-yaml';

const TRUE = /^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/;
const FALSE = /^(?:n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/;
const NULL = /^(?:~|null|Null|NULL|)$/;
/** Decimal, or with a prefix binary, octal (also the old `0644`) and hexadecimal; underscores may separate digits. */
const INTEGER = /^([-+]?)(0[bB][01_]+|0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[0-7_]+|(?:0|[1-9][\d_]*))$/;
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const SPECIAL_FLOAT = /^(?:([-+]?)\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
/** A longer integer exceeds 64 bits and is read as a floating-point number. */
const INTEGER_CHARS_MAX = 66;
const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

function scalar(name: string, options: ConstructorParameters<typeof Type>[1]): Type {
  return new Type(`tag:yaml.org,2002:${name}`, { kind: 'scalar', ...options });
}

function never(name: string): Type {
  return scalar(name, { resolve: () => false });
}

function integerOf(text: string): bigint | undefined {
  const match = text.length <= INTEGER_CHARS_MAX ? INTEGER.exec(text) : null;
  if (match === null) return undefined;
  const digits = (match[2] ?? '').replaceAll('_', '').toLowerCase();
  const literal = /^0\d/.test(digits) ? `0o${digits.slice(1)}` : digits;
  if (!/^(?:0[box][\da-f]+|\d+)$/.test(literal)) return undefined;
  const value = BigInt(literal);
  const signed = match[1] === '-' ? -value : value;
  return signed >= INT64_MIN && signed <= INT64_MAX ? signed : undefined;
}

function floatOf(text: string): number | undefined {
  const special = SPECIAL_FLOAT.exec(text);
  if (special !== null)
    return text.toLowerCase().endsWith('nan') ? NaN : special[1] === '-' ? -Infinity : Infinity;
  const plain = text.replaceAll('_', '');
  return FLOAT.test(plain) ? Number(plain) : undefined;
}

/** The library’s types allow only objects here; the value is always a number or bigint. */
function textOf(value: unknown): string {
  return typeof value === 'number' || typeof value === 'bigint' ? value.toString() : '';
}

/** Returns whether a value is an integer. */
function isInteger(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
}

/**
 * YAML 1.1 as Kubernetes’ Go library reads it: `yes` and `n` are booleans, `0644` is octal, a time is a string, and
 * there are no binary values. Integers of more than 53 bits are bigints, in both directions.
 */
export const YAML_SCHEMA: Schema = DEFAULT_SCHEMA.extend({
  implicit: [
    scalar('null', {
      resolve: (text: string | null) => text === null || NULL.test(text),
      construct: () => null,
      predicate: (value: unknown) => value === null,
      represent: () => 'null',
    }),
    scalar('bool', {
      resolve: (text: string | null) => text !== null && (TRUE.test(text) || FALSE.test(text)),
      construct: (text: string) => TRUE.test(text),
      predicate: (value: unknown) => typeof value === 'boolean',
      represent: String,
    }),
    scalar('int', {
      resolve: (text: string | null) => text !== null && integerOf(text) !== undefined,
      construct: (text: string) => {
        const value = integerOf(text) ?? 0n;
        const small = Number(value);
        return Number.isSafeInteger(small) ? small : value;
      },
      predicate: isInteger,
      represent: textOf,
    }),
    scalar('float', {
      resolve: (text: string | null) => text !== null && floatOf(text) !== undefined,
      construct: (text: string) => floatOf(text) ?? 0,
      predicate: (value: unknown) => typeof value === 'number' && !isInteger(value),
      represent: textOf,
    }),
    never('timestamp'),
  ],
  explicit: [never('binary')],
});

/** A timestamp of YAML 1.1. */
const TIME =
  /^\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|[ \t]+)\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d*)?[ \t]*(?:Z|[-+]\d{1,2}(?::?\d\d)?)?)?$/;

/** The schema for output: text that another reader would parse as a timestamp is quoted, as in Go. */
export const YAML_OUTPUT_SCHEMA: Schema = YAML_SCHEMA.extend({
  implicit: [scalar('timestamp', { resolve: (text: string | null) => text !== null && TIME.test(text) })],
});
