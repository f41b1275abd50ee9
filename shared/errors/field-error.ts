import { stringifyExact } from '../object/exact-text';
import { goQuote } from './go-quote';
import { goStrings, GoValue } from './go-values';
import type { StatusCause } from './status-error';
import { StatusError } from './status-error';

/**
 * One thing that is wrong with one field. Types, reasons and message forms are those of k8s `field.Error`
 * (apimachinery/pkg/util/validation/field, v1.21).
 */
export const FIELD_ERROR = {
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  InternalError: 'Internal error',
} as const;
export type FieldErrorReason = keyof typeof FIELD_ERROR;

export interface FieldError {
  readonly reason: FieldErrorReason;
  /** The path as the client would write it: `spec.containers[0].name`, `metadata.labels`. */
  readonly field: string;
  /** What follows the field in the message. */
  readonly message: string;
}

/**
 * The value as upstream shows it, nothing at all in quotes too; but what has members as JSON, not in the syntax of Go, unless it is a
 * list of texts, or the rule says how.
 */
function show(value: unknown): string {
  if (value === undefined || value === null) return '"null"';
  if (value instanceof GoValue) return String(value);
  if (isTexts(value)) return String(goStrings(value));
  return typeof value === 'string' ? goQuote(value) : stringifyExact(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}

/**
 * An error that shows a value. Its message is made when it is read: each of a hundred thousand items may be wrong for a reason that shows
 * the whole list, and nobody reads so many.
 */
function ofValue(reason: FieldErrorReason, field: string, value: unknown, detail: string): FieldError {
  return {
    reason,
    field,
    get message() {
      return withDetail(`${FIELD_ERROR[reason]}: ${show(value)}`, detail);
    },
  };
}

export function required(field: string, detail = ''): FieldError {
  return { reason: 'FieldValueRequired', field, message: withDetail('Required value', detail) };
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return ofValue('FieldValueInvalid', field, value, detail);
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { reason: 'FieldValueForbidden', field, message: withDetail('Forbidden', detail) };
}

export function duplicate(field: string, value: unknown, detail = ''): FieldError {
  return ofValue('FieldValueDuplicate', field, value, detail);
}

/** The choices are told in the order in which they are given, which should be upstream's. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = `supported values: ${supported.map(goQuote).join(', ')}`;
  return ofValue('FieldValueNotSupported', field, value, detail);
}

/** What the value leads to is not there. */
export function notFoundField(field: string, value: unknown): FieldError {
  return ofValue('FieldValueNotFound', field, value, '');
}

/** What could not be judged, which is told beside what is wrong. */
export function internalError(field: string, why: string): FieldError {
  return { reason: 'InternalError', field, message: `Internal error: ${why}` };
}

/** The value itself is not repeated: it is long. */
export function tooLong(field: string, _value: unknown, max: number): FieldError {
  return {
    reason: 'FieldValueTooLong',
    field,
    message: withDetail('Too long', `must have at most ${String(max)} bytes`),
  };
}

export function tooMany(field: string, actual: number, max: number): FieldError {
  return {
    reason: 'FieldValueTooMany',
    field,
    message: `Too many: ${String(actual)}: must have at most ${String(max)} items`,
  };
}

/**
 * An answer names no more errors than this: what is wrong with a few megabytes would fill many times as many. Checks of maps that can be
 * long stop looking once they have found more.
 */
export const ERRORS_SHOWN_MAX = 1_000;

/** What is wrong with each of the items, as far as it is told. */
export function untilTooMany<T>(
  items: readonly T[],
  validate: (item: T, index: number) => readonly FieldError[],
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, item] of items.entries()) {
    errors.push(...validate(item, index));
    if (errors.length > ERRORS_SHOWN_MAX) break;
  }
  return errors;
}

/** Nor does it name a further one where those before have so many characters: each of them may show the same large value. */
const ERROR_CHARS_MAX = 1024 * 1024;

interface ShownErrors {
  /** By their text, in the order in which they were found. */
  readonly causes: ReadonlyMap<string, FieldError & StatusCause>;
  /** The number of errors after the last one shown. */
  readonly omitted: number;
}

/** Selects the errors that a response lists. Several rules may report the same error: it is listed once. */
function selectShown(errors: readonly FieldError[]): ShownErrors {
  const causes = new Map<string, FieldError & StatusCause>();
  let chars = 0;
  for (const [index, { reason, message, field }] of errors.entries()) {
    if (causes.size === ERRORS_SHOWN_MAX || chars > ERROR_CHARS_MAX) {
      return { causes, omitted: errors.length - index };
    }
    const text = `${field}: ${message}`;
    if (causes.has(text)) continue;
    chars += text.length;
    causes.set(text, { reason, message, field });
  }
  return { causes, omitted: 0 };
}

/** All that is wrong with one object, in one 422 answer. */
export function invalidObject(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const { causes, omitted } = selectShown(errors);
  const lines = [...causes.keys()];
  if (omitted > 0) lines.push(`and at least ${String(omitted)} further errors`);
  const text = lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`;
  const named = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  return new StatusError('Invalid', `${named} ${goQuote(name)} is invalid: ${text}`, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      ...(kind.kind === '' ? {} : { kind: kind.kind }),
      causes: [...causes.values()],
    },
  });
}
