import type { FieldError } from '../../../../shared/errors/field-error';
import { validateLabelSelector } from '../../../../shared/meta/validate-labels';
import type { LabelSelectorObject } from '../../../../shared/meta/labels';

/** Validates a label selector of an object; an absent one is valid. */
export function labelSelector(value: LabelSelectorObject | null | undefined, path: string): FieldError[] {
  return validateLabelSelector(value ?? undefined, path);
}
