import { evaluateRules } from '../../../shared/cel/schema/evaluate-rules';
import type { RuleProblem } from '../../../shared/cel/schema/evaluate-rules';
import { pendingRules } from '../../../shared/cel/schema/rule-tree';
import type { RuleNode } from '../../../shared/cel/schema/rule-tree';
import { isInForce } from '../../../shared/api/changes';
import { Slices } from '../../../shared/concurrency/slices';
import type { FieldError } from '../../../shared/errors/field-error';
import {
  duplicate,
  forbiddenField,
  internalError,
  invalid,
  required,
} from '../../../shared/errors/field-error';
import { fieldOf } from '../../../shared/structural/outcome';
import type { LoopBounds } from '../../engine/request/loop-bounds';
import { keepCostWithin, keepSourceWithin } from '../kinds/rules/expression-bounds';

const NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

export const RATCHETS = isInForce('ratchetedResources');

/** Trees whose rules are all compiled. */
const warm = new WeakSet<RuleNode>();

/**
 * Compiles rules ahead of use, one in each slice of the event loop; undefined when there is nothing to compile. Rejects with
 * TooLargeHereError for a rule that is too long for a slice.
 */
export function warmRules(
  tree: RuleNode | undefined,
  bounds: LoopBounds | undefined,
): Promise<void> | undefined {
  return tree === undefined || warm.has(tree) ? undefined : compileInSlices(tree, bounds);
}

async function compileInSlices(tree: RuleNode, bounds: LoopBounds | undefined): Promise<void> {
  const slices = new Slices();
  for (const rules of pendingRules(tree)) {
    keepSourceWithin(bounds, rules.nextLength);
    rules.compileNext();
    if (slices.due()) await slices.pause();
  }
  warm.add(tree);
}

export interface RuleCheck {
  /** Undefined where the version has no rules. */
  readonly rules: RuleNode | undefined;
  /** What the schema refuses in the object. */
  readonly wrongValues: readonly FieldError[];
  readonly bounds: LoopBounds | undefined;
}

/**
 * Validates a custom resource by the rules of its version, unless values that rules rely on are missing or of another type. At API level
 * 1.30 and later, rules that fail on parts of an object that an update leaves unchanged do not refuse it.
 *
 * @param previous the stored object; undefined on a create
 */
export function validateByRules(
  object: object,
  previous: object | undefined,
  { rules, wrongValues, bounds }: RuleCheck,
): FieldError[] {
  if (rules === undefined) return [];
  if (wrongValues.some(isBlocking)) return [invalid(fieldOf(''), undefined, NOT_CHECKED)];
  const onCost = bounds === undefined ? undefined : (cost: number) => keepCostWithin(bounds, cost);
  return evaluateRules(rules, object, previous, { onCost })
    .filter(({ isWarning }) => !(isWarning && RATCHETS))
    .map(toFieldError);
}

/** Errors after which upstream evaluates no rules (`hasBlockingErr`). */
function isBlocking({ reason }: FieldError): boolean {
  return (
    reason === 'FieldValueNotSupported' ||
    reason === 'FieldValueRequired' ||
    reason === 'FieldValueTooLong' ||
    reason === 'FieldValueTooMany' ||
    reason === 'FieldValueTypeInvalid'
  );
}

function toFieldError({ reason, field: path, value, detail }: RuleProblem): FieldError {
  const field = fieldOf(path);
  switch (reason) {
    case 'FieldValueForbidden':
      return forbiddenField(field, detail);
    case 'FieldValueRequired':
      return required(field, detail);
    case 'FieldValueDuplicate':
      return value === undefined ? { reason, field, message: 'Duplicate value' } : duplicate(field, value);
    case 'InternalError':
      return internalError(field, detail);
    case 'FieldValueInvalid':
    default:
      return value === undefined
        ? { reason, field, message: `Invalid value: ${detail}` }
        : invalid(field, value, detail);
  }
}
