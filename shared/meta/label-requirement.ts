import type { FieldError } from '../errors/field-error';
import { invalid, validateUntilLimit } from '../errors/field-error';
import { labelValueProblems, qualifiedNameProblems } from './dns-names';
import { SelectorError } from './selector-error';

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

/** One condition on one label. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted values: none for `exists` and `!`, any number for `in` and `notin`, else one. */
  readonly values: ReadonlySet<string>;
}

/**
 * Returns a validated requirement. Checks have the order of upstream's `NewRequirement`; the first problem is
 * thrown as SelectorError.
 */
export function labelRequirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
): LabelRequirement {
  checkLabelKey(key);
  return requirementOfKey(key, operator, values);
}

const NO_VALUES: ReadonlySet<string> = new Set();

/** Returns a requirement for a key that is already validated. */
export function requirementOfKey(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
): LabelRequirement {
  checkCount(operator, values);
  const sorted = [...values].sort();
  const errors = [
    ...(operator === 'gt' || operator === 'lt' ? validateUntilLimit(sorted, boundErrors) : []),
    ...validateUntilLimit(sorted, (value, index) =>
      labelValueProblems(value).map((problem) => invalid(`values[${String(index)}][${key}]`, value, problem)),
    ),
  ];
  if (errors.length > 0) throw new SelectorError(joinErrors(errors));
  return { key, operator, values: sorted.length === 0 ? NO_VALUES : new Set(sorted) };
}

function boundErrors(value: string, index: number): FieldError[] {
  if (parseInt64(value) !== undefined) return [];
  const problem = "for 'Gt', 'Lt' operators, the value must be an integer";
  return [invalid(`values[${String(index)}]`, value, problem)];
}

/** Joins field errors as upstream does: in brackets if there are several. */
function joinErrors(errors: readonly FieldError[]): string {
  const texts = errors.map(({ field, message }) => `${field}: ${message}`);
  return texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`;
}

/** Validates a key. The parser has no path, which upstream shows as `<nil>`. */
export function checkLabelKey(key: string): void {
  const problems = qualifiedNameProblems(key);
  if (problems.length > 0) {
    throw new SelectorError(joinErrors([invalid('<nil>', key, problems.join('; '))]));
  }
}

/**
 * True when the requirement matches the value of its label; undefined means that the object lacks the label.
 */
export function matchesRequirement(
  { operator, values }: LabelRequirement,
  value: string | undefined,
): boolean {
  if (operator === '!') return value === undefined;
  if (operator === '!=' || operator === 'notin') return value === undefined || !values.has(value);
  if (value === undefined) return false;
  if (operator === 'exists') return true;
  if (operator !== 'gt' && operator !== 'lt') return values.has(value);
  const [bound] = values;
  const left = parseInt64(value);
  const right = parseInt64(bound);
  if (left === undefined || right === undefined) return false;
  return operator === 'gt' ? left > right : left < right;
}

const SIGN_OF_OPERATOR = { '=': '=', '==': '==', '!=': '!=', gt: '>', lt: '<' } as const;

/** Formats a requirement as selector text. */
export function formatRequirement({ key, operator, values }: LabelRequirement): string {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${key}`;
  const list = [...values].join(',');
  if (operator === 'in' || operator === 'notin') return `${key} ${operator} (${list})`;
  return `${key}${SIGN_OF_OPERATOR[operator]}${list}`;
}

function checkCount(operator: LabelOperator, values: readonly string[]): void {
  if ((operator === 'in' || operator === 'notin') && values.length === 0) {
    throw new SelectorError("for 'in', 'notin' operators, values set can't be empty");
  }
  if ((operator === 'exists' || operator === '!') && values.length > 0) {
    throw new SelectorError('values set must be empty for exists and does not exist');
  }
}

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

function parseInt64(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value > INT64_MAX || value < INT64_MIN ? undefined : value;
}
