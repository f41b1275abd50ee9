import type { Condition } from '../../../shared/api/types/meta-v1';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, notSupported, required, tooLong } from '../../../shared/errors/field-error';
import { qualifiedNameProblems } from '../../../shared/meta/dns-names';
import { forEachItem, noDuplicates, nonNegative, requiredText } from './primitives';

const STATUSES = ['False', 'True', 'Unknown'];
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_BYTES_MAX = 1024;
const MESSAGE_BYTES_MAX = 32_768;

/** A list of the conditions of meta/v1: each type once, each with a status, a reason and a time. */
export function validateConditions(given: readonly Condition[] | undefined, path: string): FieldError[] {
  const conditions = given ?? [];
  return [
    ...noDuplicates(
      conditions.map(({ type }) => type),
      (index) => `${path}[${String(index)}].type`,
    ),
    ...forEachItem(conditions, path, validateCondition),
  ];
}

function validateCondition(condition: Condition, path: string): FieldError[] {
  const { status, message } = condition;
  return [
    ...requiredText(condition.type, `${path}.type`, qualifiedNameProblems),
    ...(STATUSES.includes(status) ? [] : [notSupported(`${path}.status`, status, STATUSES)]),
    ...nonNegative(condition.observedGeneration, `${path}.observedGeneration`),
    ...(condition.lastTransitionTime === null ? [required(`${path}.lastTransitionTime`)] : []),
    ...validateReason(condition.reason, `${path}.reason`),
    ...(Buffer.byteLength(message) > MESSAGE_BYTES_MAX
      ? [tooLong(`${path}.message`, message, MESSAGE_BYTES_MAX)]
      : []),
  ];
}

function validateReason(reason: string, path: string): FieldError[] {
  if (reason === '') return [required(path)];
  return [
    ...(REASON.test(reason)
      ? []
      : [invalid(path, reason, 'a condition reason must start with alphabetic character')]),
    ...(Buffer.byteLength(reason) > REASON_BYTES_MAX ? [tooLong(path, reason, REASON_BYTES_MAX)] : []),
  ];
}
