import type { Condition } from '../../../../shared/api/types/meta-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, notSupported, required, tooLong } from '../../../../shared/errors/field-error';
import { qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import { integer } from '../../../../shared/object/accessors';
import { forEachItem, invalidForEach, repeatsIn } from './primitives';

const STATUSES = ['False', 'True', 'Unknown'];
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_PROBLEM =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
const REASON_BYTES_MAX = 1024;
const MESSAGE_BYTES_MAX = 32_768;

/** A list of the conditions of meta/v1: each type once, each with a status, a reason and a time. */
export function validateConditions(given: readonly Condition[] | undefined, path: string): FieldError[] {
  const conditions = given ?? [];
  const isRepeated = repeatsIn(conditions.map(({ type }) => type));
  return forEachItem(conditions, path, (condition, at, index) => [
    ...(isRepeated(index) ? [duplicate(`${at}.type`, condition.type)] : []),
    ...validateCondition(condition, at),
  ]);
}

function validateCondition(condition: Condition, path: string): FieldError[] {
  const { status, message } = condition;
  return [
    ...invalidForEach(qualifiedNameProblems(condition.type), condition.type, `${path}.type`),
    ...(STATUSES.includes(status) ? [] : [notSupported(`${path}.status`, status, STATUSES)]),
    ...((integer(condition.observedGeneration) ?? 0) < 0
      ? [
          invalid(
            `${path}.observedGeneration`,
            condition.observedGeneration,
            'must be greater than or equal to zero',
          ),
        ]
      : []),
    ...(condition.lastTransitionTime === null ? [required(`${path}.lastTransitionTime`, 'must be set')] : []),
    ...validateReason(condition.reason, `${path}.reason`),
    ...(Buffer.byteLength(message) > MESSAGE_BYTES_MAX
      ? [tooLong(`${path}.message`, message, MESSAGE_BYTES_MAX)]
      : []),
  ];
}

function validateReason(reason: string, path: string): FieldError[] {
  if (reason === '') return [required(path, 'must be set')];
  return [
    ...(REASON.test(reason) ? [] : [invalid(path, reason, REASON_PROBLEM)]),
    ...(Buffer.byteLength(reason) > REASON_BYTES_MAX ? [tooLong(path, reason, REASON_BYTES_MAX)] : []),
  ];
}
