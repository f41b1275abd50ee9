import { stringifyExact } from '../object/exact-text';
import { goQuote } from './go-quote';
import { goStrings, GoValue, NIL_TEXT } from './go-values';
import type { StatusCause } from './status-error';
import { StatusError } from './status-error';

/**
 * Field error types: reason codes of status causes with the text that begins the message. They are those of
 * `field.Error` (k8s.io/apimachinery/pkg/util/validation/field).
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
  FieldValueTypeInvalid: 'Invalid value',
  InternalError: 'Internal error',
} as const;
export type FieldErrorReason = keyof typeof FIELD_ERROR;

export interface FieldError {
  readonly reason: FieldErrorReason;
  /** The path as clients write it: `spec.containers[0].name`, `metadata.labels`. */
  readonly field: string;
  /** The message after the field. */
  readonly message: string;
}

/**
 * Formats the bad value. Upstream prints objects in Go's syntax before v1.34; here they are JSON, except lists of strings
 * and values that a rule formats itself.
 */
function formatValue(value: unknown): string {
  if (value === undefined || value === null) return NIL_TEXT;
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
 * Returns an error that shows a value. The message is formatted on first read, since a hundred thousand items
 * may fail with the whole list in each message.
 */
function createValueError(
  reason: FieldErrorReason,
  field: string,
  value: unknown,
  detail: string,
): FieldError {
  return {
    reason,
    field,
    get message() {
      return withDetail(`${FIELD_ERROR[reason]}: ${formatValue(value)}`, detail);
    },
  };
}

export function required(field: string, detail = ''): FieldError {
  return { reason: 'FieldValueRequired', field, message: withDetail('Required value', detail) };
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return createValueError('FieldValueInvalid', field, value, detail);
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { reason: 'FieldValueForbidden', field, message: withDetail('Forbidden', detail) };
}

export function duplicate(field: string, value: unknown, detail = ''): FieldError {
  return createValueError('FieldValueDuplicate', field, value, detail);
}

/** ErrorTypeNotSupported: lists the supported values in the given order, which should be upstream's. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = `supported values: ${supported.map(goQuote).join(', ')}`;
  return createValueError('FieldValueNotSupported', field, value, detail);
}

/** ErrorTypeNotFound: the value refers to an object that does not exist. */
export function notFoundField(field: string, value: unknown): FieldError {
  return createValueError('FieldValueNotFound', field, value, '');
}

/** ErrorTypeInternal: the field could not be validated. */
export function internalError(field: string, why: string): FieldError {
  return { reason: 'InternalError', field, message: `Internal error: ${why}` };
}

/** ErrorTypeTooLong: the value is not shown, since it is long. */
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

/** Largest number of errors in a response. Checks of long maps stop after one more. */
export const ERRORS_SHOWN_MAX = 1_000;

/** Validates items until there are more errors than a response shows. */
export function validateUntilLimit<T>(
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

/** Largest total length of the error messages in a response, since each may show the same large value. */
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

/** Returns the 422 Invalid status with all errors of one object as causes. */
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

/** Joins distinct problems into one text, in brackets if there are several. */
export function joinProblems(problems: readonly string[]): string {
  const different = [...new Set(problems)];
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
}
