import { Slices } from '../concurrency/slices';
import { LabelDemands } from './label-demands';
import { readRequirements } from './label-parser';
import type { LabelOperator, LabelRequirement } from './label-requirement';
import { formatRequirement, matchesRequirement, labelRequirement } from './label-requirement';
import { SelectorError } from './selector-error';

/** Requirements that must all match, sorted by key. An empty list selects everything. */
export type LabelSelector = readonly LabelRequirement[];

/** One expression of the LabelSelector of meta/v1 as decoded JSON. */
export interface LabelSelectorExpression {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[];
}

/** The LabelSelector of meta/v1 as decoded JSON. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorExpression[];
}

/** Matches no object, since `in` has no values. */
export const NO_LABEL: LabelSelector = [{ key: '', operator: 'in', values: new Set() }];

/** Parses a `labelSelector` parameter: `app in (a,b),tier!=x,!beta,n>5`. Throws SelectorError. */
export function parseLabelSelector(text: string): LabelSelector {
  return byKey([...readRequirements(text)]);
}

/** Parses a possibly long selector in slices of the event loop. Rejects with SelectorError. */
export async function parseLongLabelSelector(text: string): Promise<LabelSelector> {
  const slices = new Slices();
  const requirements: LabelRequirement[] = [];
  for (const requirement of readRequirements(text)) {
    requirements.push(requirement);
    if (slices.due()) await slices.pause();
  }
  return byKey(requirements);
}

/** Formats a selector as text that parses to it; NO_LABEL has none. */
export function formatLabelSelector(selector: LabelSelector): string {
  return selector.map(formatRequirement).join(',');
}

/** From this number on, requirements are grouped by label first. */
const FEW_REQUIREMENTS = 8;
const demandsOf = new WeakMap<LabelSelector, LabelDemands>();

export function matchesLabels(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  if (selector.length > FEW_REQUIREMENTS) {
    const demands = demandsOf.get(selector) ?? new LabelDemands(selector);
    demandsOf.set(selector, demands);
    return demands.matches(labels);
  }
  for (const requirement of selector) {
    const has = labels !== undefined && Object.hasOwn(labels, requirement.key);
    if (!matchesRequirement(requirement, has ? labels[requirement.key] : undefined)) return false;
  }
  return true;
}

/** Returns labels that must have one exact value, for indexes. Other requirements must still be checked. */
export function exactLabels(selector: LabelSelector): ReadonlyMap<string, string> {
  const exact = new Map<string, string>();
  for (const { key, operator, values } of selector) {
    if (operator !== '=' && operator !== '==' && operator !== 'in') continue;
    const [value] = values;
    if (values.size === 1 && value !== undefined && !exact.has(key)) exact.set(key, value);
  }
  return exact;
}

const OPERATOR_OF_EXPRESSION: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

/** Converts a LabelSelector object: absent selects nothing, an empty one everything. Throws SelectorError. */
export function toLabelSelector(object: LabelSelectorObject | null | undefined): LabelSelector {
  if (object === undefined || object === null) return NO_LABEL;
  const requirements = Object.entries(object.matchLabels ?? {}).map(([key, value]) =>
    labelRequirement(key, '=', [value]),
  );
  for (const { key = '', operator = '', values = [] } of object.matchExpressions ?? []) {
    const known = OPERATOR_OF_EXPRESSION.get(operator);
    if (known === undefined) {
      throw new SelectorError(`${JSON.stringify(operator)} is not a valid pod selector operator`);
    }
    requirements.push(labelRequirement(key, known, values));
  }
  return byKey(requirements);
}

/** Returns the selector for these labels, which must be valid. */
export function labelSelectorFromMap(labels: Readonly<Record<string, string>>): LabelSelector {
  return byKey(
    Object.entries(labels).map(([key, value]) => ({ key, operator: '=', values: new Set([value]) })),
  );
}

function byKey(requirements: readonly LabelRequirement[]): LabelSelector {
  return [...requirements].sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
}
