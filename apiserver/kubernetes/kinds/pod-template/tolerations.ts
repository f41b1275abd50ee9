import type { Toleration } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, notSupported } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import type { GoValue } from '../../../../shared/errors/go-values';
import { goStruct } from '../../../../shared/errors/go-values';
import { labelValueProblems, qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import { forEachItem, optionalForm } from '../rules/primitives';

/** What a taint does to pods that do not tolerate it. */
export const TAINT_EFFECTS: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** The `tolerations` of a pod. */
export function validateTolerations(
  tolerations: readonly Toleration[] | undefined,
  path: string,
): FieldError[] {
  return forEachItem(tolerations ?? [], path, (toleration, at) => {
    const { key = '', operator = '', effect = '', tolerationSeconds } = toleration;
    return [
      ...optionalForm(key, `${at}.key`, qualifiedNameProblems),
      ...(key === '' && operator !== 'Exists'
        ? [
            invalid(
              `${at}.operator`,
              operator,
              'operator must be Exists when `key` is empty, which means "match all values and all keys"',
            ),
          ]
        : []),
      ...(tolerationSeconds !== undefined && effect !== 'NoExecute'
        ? [invalid(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")]
        : []),
      ...operatorAndValue(toleration, `${at}.operator`),
      ...(effect === '' || TAINT_EFFECTS.includes(effect)
        ? []
        : [notSupported(`${at}.effect`, effect, TAINT_EFFECTS)]),
    ];
  });
}

function operatorAndValue(toleration: Toleration, path: string): FieldError[] {
  const { operator = '', value = '' } = toleration;
  if (operator === '' || operator === 'Equal') {
    const problems = labelValueProblems(value);
    return problems.length === 0 ? [] : [invalid(path, value, problems.join(';'))];
  }
  if (operator === 'Exists') {
    const why = "value must be empty when `operator` is 'Exists'";
    return value === '' ? [] : [invalid(path, tolerationInGo(toleration), why)];
  }
  return [notSupported(path, operator, ['Equal', 'Exists'])];
}

/** As upstream shows the whole of it; where there are seconds it shows where they are, and here which. */
export function tolerationInGo(toleration: Toleration): GoValue {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  return goStruct('core.Toleration', {
    Key: goQuote(key),
    Operator: goQuote(operator),
    Value: goQuote(value),
    Effect: goQuote(effect),
    TolerationSeconds: `(*int64)(${tolerationSeconds === undefined ? 'nil' : String(tolerationSeconds)})`,
  });
}

/** A running pod may get tolerations and other `tolerationSeconds`, but lose none. */
export function validateTolerationsUpdate(
  next: readonly Toleration[] | undefined,
  previous: readonly Toleration[] | undefined,
  path: string,
): FieldError[] {
  const kept = new Set((next ?? []).map(withoutSeconds));
  const lost = (previous ?? []).some((each) => !kept.has(withoutSeconds(each)));
  if (lost) {
    return [forbiddenField(path, 'existing toleration can not be modified except its tolerationSeconds')];
  }
  return validateTolerations(next, path);
}

/** As text, in which what is equal looks alike: fields are in the order of the schema. */
function withoutSeconds({ tolerationSeconds: _seconds, ...rest }: Toleration): string {
  return JSON.stringify(rest);
}
