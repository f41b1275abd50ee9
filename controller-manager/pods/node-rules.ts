import type {
  Node,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  Pod,
  Taint,
  Toleration,
} from '../../shared/api/types/core-v1';
import type { LabelOperator } from '../../shared/meta/label-requirement';
import { matchesRequirement } from '../../shared/meta/label-requirement';

const OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
  ['Gt', 'gt'],
  ['Lt', 'lt'],
]);

/** Reports whether a node satisfies the `nodeSelector` and the required node affinity of a pod. Source: `GetRequiredNodeAffinity`. */
export function matchesNodeAffinity({ spec }: Pod, node: Node): boolean {
  const { nodeSelector = {}, affinity } = spec;
  const { labels = {} } = node.metadata;
  if (
    !Object.entries(nodeSelector).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)
  )
    return false;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || matchesAnyTerm(required.nodeSelectorTerms ?? [], node);
}

/** Reports whether a node matches one of the terms; no terms match nothing. */
export function matchesAnyTerm(terms: readonly NodeSelectorTerm[], node: Node): boolean {
  return terms.some((term) => matchesTerm(term, node));
}

/** Reports whether a node matches a term; an empty one matches nothing. */
export function matchesTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  node: Node,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const { name, labels = {} } = node.metadata;
  return (
    matchExpressions.every((each) =>
      matches(each, Object.hasOwn(labels, each.key) ? labels[each.key] : undefined),
    ) &&
    // The name is the only field that terms may have.
    matchFields.every((each) => matches(each, each.key === 'metadata.name' ? name : undefined))
  );
}

function matches(
  { key, operator, values = [] }: NodeSelectorRequirement,
  value: string | undefined,
): boolean {
  const known = OPERATORS.get(operator);
  return known !== undefined && matchesRequirement({ key, operator: known, values: new Set(values) }, value);
}

/** Returns the first taint with one of these effects that no toleration matches. */
export function findUntolerated(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  effects: readonly string[],
): Taint | undefined {
  return taints.find((taint) => effects.includes(taint.effect) && !isTolerated(taint, tolerations));
}

/** Reports whether one of the tolerations matches the taint. Source: `ToleratesTaint`. */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some(({ key = '', operator = '', value = '', effect = '' }) => {
    if (effect !== '' && effect !== taint.effect) return false;
    if (key !== '' && key !== taint.key) return false;
    if (operator === 'Exists') return true;
    return (operator === '' || operator === 'Equal') && value === (taint.value ?? '');
  });
}
