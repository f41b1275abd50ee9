import { ANNOTATION, PROTECTED_GROUP_SUFFIXES } from '../../../shared/names';
import type { ApiObject } from '../../../shared/meta/object';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, required } from '../../../shared/errors/field-error';
import { record, text } from './accessors';

/** A kind in a group of the project's own says where it was approved, or that it was not. */
export function validateApproval(object: ApiObject): FieldError[] {
  const group = `.${text(record(object['spec'])['group'])}`;
  if (!PROTECTED_GROUP_SUFFIXES.some((suffix) => group.endsWith(suffix))) return [];
  const path = `metadata.annotations[${ANNOTATION.apiApproved}]`;
  const approval = object.metadata.annotations?.[ANNOTATION.apiApproved] ?? '';
  if (approval === '') return [required(path, 'protected groups must have approval annotation')];
  return approval.startsWith('unapproved') || isUrl(approval)
    ? []
    : [invalid(path, approval, 'must be a URL of the approval, or begin with "unapproved"')];
}

function isUrl(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+/i.test(value);
}
