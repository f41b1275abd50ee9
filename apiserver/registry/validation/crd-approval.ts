import { ANNOTATION, PROTECTED_GROUP_SUFFIXES } from '../../../shared/names';
import type { ApiObject } from '../../../shared/meta/object';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, required } from '../../../shared/errors/field-error';
import { record, text } from './accessors';

/**
 * A kind in a group of the project's own says where it was approved, or that it was not. What a stored one has always said, or never,
 * may stay so.
 */
export function validateApproval(object: ApiObject, previous?: ApiObject): FieldError[] {
  const group = `.${text(record(object['spec'])['group'])}`;
  if (!PROTECTED_GROUP_SUFFIXES.some((suffix) => group.endsWith(suffix))) return [];
  const path = `metadata.annotations[${ANNOTATION.apiApproved}]`;
  const approval = approvalOf(object);
  if (previous !== undefined && stateOf(approval) === stateOf(approvalOf(previous))) return [];
  if (approval === '') return [required(path, 'protected groups must have approval annotation')];
  return stateOf(approval) !== 'invalid'
    ? []
    : [invalid(path, approval, 'must be a URL of the approval, or begin with "unapproved"')];
}

/** Whether the kind is in a group of the project's own, and what its definition says of its approval. */
export function approvalStateOf(object: ApiObject): ApprovalState | undefined {
  const group = `.${text(record(object['spec'])['group'])}`;
  if (!PROTECTED_GROUP_SUFFIXES.some((suffix) => group.endsWith(suffix))) return undefined;
  const approval = approvalOf(object);
  return { state: stateOf(approval), approval };
}

export interface ApprovalState {
  readonly state: 'missing' | 'bypassed' | 'approved' | 'invalid';
  /** What the annotation says. */
  readonly approval: string;
}

function approvalOf({ metadata }: ApiObject): string {
  return metadata.annotations?.[ANNOTATION.apiApproved] ?? '';
}

function stateOf(approval: string): ApprovalState['state'] {
  if (approval === '') return 'missing';
  if (approval.startsWith('unapproved')) return 'bypassed';
  return isUrl(approval) ? 'approved' : 'invalid';
}

function isUrl(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+/i.test(value);
}
