import { Slices } from '../concurrency/slices';
import { LabelDemands } from './label-demands';
import { readRequirements } from './label-parser';
import type { LabelOperator, LabelRequirement } from './label-requirement';
import { formatRequirement, holdsFor, labelRequirement } from './label-requirement';
import { SelectorError } from './selector-error';

/** All requirements must hold, so that an empty list selects everything. Sorted by key. */
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

/** Holds for no object: its label would have to be one of no values. */
export const NO_LABEL: LabelSelector = [{ key: '', operator: 'in', values: new Set() }];

/** Reads the text of a `labelSelector` parameter: `app in (a,b),tier!=x,!beta,n>5`. Throws SelectorError. */
export function parseLabelSelector(text: string): LabelSelector {
  return byKey([...readRequirements(text)]);
}

/** The same, with turns of the event loop between slices: for a text that may be long. Rejects with a SelectorError. */
export async function parseLongLabelSelector(text: string): Promise<LabelSelector> {
  const slices = new Slices();
  const requirements: LabelRequirement[] = [];
  for (const requirement of readRequirements(text)) {
    requirements.push(requirement);
    if (slices.due()) await slices.pause();
  }
  return byKey(requirements);
}

/** The text that parses to the same selector; NO_LABEL has none. */
export function formatLabelSelector(selector: LabelSelector): string {
  return selector.map(formatRequirement).join(',');
}

/** Above this, what the requirements say of each label is put together first. */
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
    if (!holdsFor(requirement, has ? labels[requirement.key] : undefined)) return false;
  }
  return true;
}

/** The labels that must have one certain value, for indexes: key and value. Other requirements still have to be checked. */
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

/** The selector of a LabelSelector object: absent selects nothing, an empty one everything. Throws SelectorError. */
export function labelSelectorOf(object: LabelSelectorObject | null | undefined): LabelSelector {
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

/** The selector that wants exactly these labels; they are taken as valid. */
export function labelSelectorOfMap(labels: Readonly<Record<string, string>>): LabelSelector {
  return byKey(
    Object.entries(labels).map(([key, value]) => ({ key, operator: '=', values: new Set([value]) })),
  );
}

function byKey(requirements: readonly LabelRequirement[]): LabelSelector {
  return [...requirements].sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
}
