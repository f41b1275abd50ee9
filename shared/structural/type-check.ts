import type { Check } from './outcome';
import { addTypeProblem } from './outcome';
import type { StructuralSchema } from './structural-schema';
import { ownKeyMap } from '../own-key-map';

/**
 * Compares the type of a value with that of the schema. A null fits where it is allowed, and where the schema
 * has no type.
 */
export function checkType(schema: StructuralSchema, value: unknown, check: Check): void {
  const expected = expectedTypes(schema);
  const format = schema.text?.format ?? '';
  if (value === null || value === undefined) {
    if (expected === '' || schema.isNullable) check.outcome.matches += 1;
    else addTypeProblem(check, expected, 'null');
    return;
  }
  if (expected === '' && format === '') return;
  const actual = typeOf(value);
  check.outcome.matches += 1;
  if (fits(expected, actual, value)) check.outcome.matches += 1;
  // Upstream's message names the value's format instead of its type, except for strings and lists.
  else if (isNamedByType(format, actual)) addTypeProblem(check, expected, actual);
  else addTypeProblem(check, format, FORMATS_OF_VALUES.get(actual) ?? '');
}

function isNamedByType(format: string, actual: string): boolean {
  return (
    format === '' || format === FORMATS_OF_VALUES.get(actual) || actual === 'string' || actual === 'array'
  );
}

const FORMATS_OF_VALUES = ownKeyMap<string>({ integer: 'int64', number: 'float64' });

function expectedTypes({ type, isIntOrString }: StructuralSchema): string {
  return isIntOrString ? 'integer,string' : type;
}

/**
 * A format alone does not constrain strings and lists. Unlike upstream, a list is not a string with a format.
 */
function fits(expected: string, actual: string, value: unknown): boolean {
  if (expected === actual) return true;
  if (expected === '') return actual === 'string' || actual === 'array';
  if (expected === 'integer,string') return actual === 'string' || isInteger(value);
  if (expected === 'number') return actual === 'integer';
  return expected === 'integer' && isInteger(value);
}

function isInteger(value: unknown): boolean {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return 'integer';
  return typeof value;
}
