import { isInForce } from '../api/changes';
import type { FieldError } from '../errors/field-error';
import {
  ERRORS_SHOWN_MAX,
  forbiddenField,
  invalid,
  required,
  tooLong,
  validateUntilLimit,
} from '../errors/field-error';
import { labelValueProblems, qualifiedNameProblems } from './dns-names';
import type { LabelSelectorObject, LabelSelectorExpression } from './labels';

/** Largest total size of keys and values of the annotations of one object, in bytes. */
export const ANNOTATIONS_BYTES_MAX = 256 * 1024;

type StringMap = Readonly<Record<string, string>>;

/**
 * Validates labels: keys are qualified names and values are label values. It stops after the errors that a
 * response shows.
 */
export function validateLabels(labels: StringMap | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    if (errors.length > ERRORS_SHOWN_MAX) break;
    for (const problem of qualifiedNameProblems(key)) errors.push(invalid(path, key, problem));
    for (const problem of labelValueProblems(value)) errors.push(invalid(path, value, problem));
  }
  return errors;
}

/** Validates annotations: keys are qualified names in any case, values are free. */
export function validateAnnotations(annotations: StringMap | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    if (errors.length <= ERRORS_SHOWN_MAX) {
      for (const problem of qualifiedNameProblems(key.toLowerCase()))
        errors.push(invalid(path, key, problem));
    }
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > ANNOTATIONS_BYTES_MAX) errors.push(tooLong(path, '', ANNOTATIONS_BYTES_MAX));
  return errors;
}

/** Validates a LabelSelector inside an object (`spec.selector` and others); undefined is valid. */
export function validateLabelSelector(selector: LabelSelectorObject | undefined, path: string): FieldError[] {
  if (selector === undefined) return [];
  return [
    ...validateLabels(selector.matchLabels, `${path}.matchLabels`),
    ...validateUntilLimit(selector.matchExpressions ?? [], (expression, index) =>
      validateExpression(expression, `${path}.matchExpressions[${String(index)}]`),
    ),
  ];
}

/** A selector in a review of access: as text, or as requirements. */
interface SelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly LabelSelectorExpression[];
}

/**
 * Validates the selector of a review of access. A newer client may know further operators. Source: validateFieldSelectorAttributes and
 * validateLabelSelectorAttributes of `pkg/apis/authorization`, v1.36.
 */
export function validateSelectorAttributes(
  selector: SelectorAttributes | undefined,
  path: string,
  { areLabels }: { readonly areLabels: boolean },
): FieldError[] {
  if (selector === undefined) return [];
  const { rawSelector = '', requirements = [] } = selector;
  const hasBoth = rawSelector !== '' && requirements.length > 0;
  return [
    ...(hasBoth
      ? [invalid(`${path}.rawSelector`, rawSelector, 'may not specified at the same time as requirements')]
      : []),
    ...(rawSelector === '' && requirements.length === 0
      ? [
          required(
            `${path}.requirements`,
            `when ${path} is specified, requirements or rawSelector is required`,
          ),
        ]
      : []),
    ...validateUntilLimit(requirements, (requirement, index) => {
      const at = `${path}.requirements[${String(index)}]`;
      if (areLabels) return validateExpression(requirement, at, { allowsUnknown: true });
      return [
        ...((requirement.key ?? '') === '' ? [required(`${at}.key`, 'must be specified')] : []),
        ...validateOperator(requirement, at, { allowsUnknown: true }),
      ];
    }),
  ];
}

interface OperatorRules {
  readonly allowsUnknown: boolean;
}

function validateExpression(
  expression: LabelSelectorExpression,
  path: string,
  rules: OperatorRules = { allowsUnknown: false },
): FieldError[] {
  return [
    ...validateOperator(expression, path, rules),
    ...validateLabelKey(expression.key ?? '', `${path}.key`),
    ...(isInForce('labelSelectorValues') ? validateValues(expression.values ?? [], `${path}.values`) : []),
  ];
}

function validateValues(values: readonly string[], path: string): FieldError[] {
  return validateUntilLimit(values, (value, index) =>
    labelValueProblems(value).map((problem) => invalid(`${path}[${String(index)}]`, value, problem)),
  );
}

function validateOperator(
  { operator = '', values = [] }: LabelSelectorExpression,
  path: string,
  { allowsUnknown }: OperatorRules,
): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return [];
      return [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return [];
      return [
        forbiddenField(
          `${path}.values`,
          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
      ];
    default:
      return allowsUnknown ? [] : [invalid(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}

function validateLabelKey(key: string, path: string): FieldError[] {
  return qualifiedNameProblems(key).map((problem) => invalid(path, key, problem));
}
