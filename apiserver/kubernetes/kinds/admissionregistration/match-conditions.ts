import type { MatchCondition } from '../../../../shared/api/types/admissionregistration-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { required, tooMany } from '../../../../shared/errors/field-error';
import { qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import { forEachItem, noDuplicates, requiredText } from '../rules/primitives';

const CONDITIONS_MAX = 64;

/** Validates the conditions under which a policy or a webhook applies to a request. */
export function validateMatchConditions(conditions: readonly MatchCondition[], path: string): FieldError[] {
  return [
    ...(conditions.length > CONDITIONS_MAX ? [tooMany(path, conditions.length, CONDITIONS_MAX)] : []),
    ...forEachItem(conditions, path, ({ name, expression }, at) => [
      ...validateExpression(expression, `${at}.expression`),
      ...requiredText(name, `${at}.name`, qualifiedNameProblems),
    ]),
    ...noDuplicates(
      conditions.map(({ name }) => name),
      (at) => `${path}[${String(at)}].name`,
    ),
  ];
}

/** Validates an expression of any field of the group: it must be there. Its compilation belongs here, too. */
export function validateExpression(expression: string, path: string, detail = ''): FieldError[] {
  return expression.trim() === '' ? [required(path, detail)] : [];
}
