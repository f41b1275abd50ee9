import type { FieldError } from '../../../../shared/errors/field-error';
import { validateLabelSelector } from '../../../../shared/meta/validate-labels';
import type { LabelSelectorObject } from '../../../../shared/meta/labels';

/** A label selector as it stands in an object; an absent one is good. */
export function labelSelector(value: LabelSelectorObject | null | undefined, path: string): FieldError[] {
  return validateLabelSelector(value ?? undefined, path);
}
