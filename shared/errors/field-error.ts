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

/** The value as Go prints it in a field error: strings quoted, the rest as JSON. */
function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : (JSON.stringify(value) ?? 'null');
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}

export function required(field: string, detail = ''): FieldError {
  return { reason: 'FieldValueRequired', field, message: withDetail('Required value', detail) };
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, message: withDetail(`Invalid value: ${show(value)}`, detail) };
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { reason: 'FieldValueForbidden', field, message: withDetail('Forbidden', detail) };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${show(value)}` };
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const list = [...supported].sort().map((each) => JSON.stringify(each));
  return {
    reason: 'FieldValueNotSupported',
    field,
    message: withDetail(`Unsupported value: ${show(value)}`, `supported values: ${list.join(', ')}`),
  };
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

/** All that is wrong with one object, in one 422 answer. */
export function invalidObject(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const shown = errors.slice(0, ERRORS_SHOWN_MAX);
  const lines = [...new Set(shown.map((error) => `${error.field}: ${error.message}`))];
  if (shown.length < errors.length)
    lines.push(`and at least ${String(errors.length - shown.length)} further errors`);
  const text = lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`;
  const named = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  const causes: StatusCause[] = shown.map(({ reason, message, field }) => ({ reason, message, field }));
  return new StatusError('Invalid', `${named} "${name}" is invalid: ${text}`, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      ...(kind.kind === '' ? {} : { kind: kind.kind }),
      causes,
    },
  });
}
