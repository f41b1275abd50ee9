import type { FieldError } from '../../../shared/errors/field-error';
import { validateLabelSelector } from '../../../shared/meta/validate-labels';
import { optionalRecord } from '../../../shared/object/accessors';

/** A label selector of decoded JSON; an absent one is good. */
export function labelSelector(value: unknown, path: string): FieldError[] {
  return validateLabelSelector(optionalRecord(value), path);
}
