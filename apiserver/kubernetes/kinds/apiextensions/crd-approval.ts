import type { CustomResourceDefinition } from '../../../../shared/api/types/apiextensions-v1';
import { ANNOTATION, PROTECTED_GROUP_SUFFIXES } from '../../../../shared/names';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';

/**
 * A kind in a group of the project's own says where it was approved, or that it was not. What a stored one has always said, or never,
 * may stay so.
 */
export function validateApproval(
  object: CustomResourceDefinition,
  previous?: CustomResourceDefinition,
): FieldError[] {
  const found = approvalStateOf(object);
  if (found === undefined) return [];
  const path = `metadata.annotations[${ANNOTATION.apiApproved}]`;
  const { state, reason } = found;
  if (previous !== undefined && state === stateOf(previous).state) return [];
  if (state === 'missing') return [required(path, reason)];
  return state === 'invalid' ? [invalid(path, approvalOf(object), reason)] : [];
}

/** Whether the kind is in a group of the project's own, and what its definition says of its approval. */
export function approvalStateOf(object: CustomResourceDefinition): ApprovalState | undefined {
  const group = `.${object.spec.group}`;
  return PROTECTED_GROUP_SUFFIXES.some((suffix) => group.endsWith(suffix)) ? stateOf(object) : undefined;
}

export interface ApprovalState {
  readonly state: 'missing' | 'bypassed' | 'approved' | 'invalid';
  /** In a sentence. */
  readonly reason: string;
}

function approvalOf({ metadata }: CustomResourceDefinition): string {
  return metadata.annotations?.[ANNOTATION.apiApproved] ?? '';
}

const DEMAND = `protected groups must have approval annotation ${goQuote(ANNOTATION.apiApproved)}`;
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111';

function stateOf(object: CustomResourceDefinition): ApprovalState {
  const approval = approvalOf(object);
  if (approval === '') return { state: 'missing', reason: `${DEMAND}, ${SEE}` };
  if (approval.startsWith('unapproved')) {
    return { state: 'bypassed', reason: `not approved: ${goQuote(approval)}` };
  }
  if (isUrl(approval)) return { state: 'approved', reason: `approved in ${approval}` };
  const form = 'with either a URL or a reason starting with "unapproved"';
  return { state: 'invalid', reason: `${DEMAND} ${form}, ${SEE}` };
}

function isUrl(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+/i.test(value);
}
