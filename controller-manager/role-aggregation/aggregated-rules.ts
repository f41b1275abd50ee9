import { deepEqual } from '../../shared/object/clone';
import type { LabelSelectorObject } from '../../shared/meta/labels';
import { labelSelectorOf, matchesLabels } from '../../shared/meta/labels';
import type { ApiObject } from '../../shared/object/object';

export type Rule = Readonly<Record<string, unknown>>;

/** A v1 ClusterRole as far as aggregation is concerned. */
export interface ClusterRole extends ApiObject {
  readonly rules?: readonly Rule[] | null;
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelectorObject[] };
}

/**
 * The rules of all roles that the aggregated role selects, each once: selector by selector, role by role in the order of their names.
 * Throws SelectorError for a selector that means nothing.
 */
export function aggregatedRules(role: ClusterRole, roles: readonly ClusterRole[]): readonly Rule[] {
  const { name } = role.metadata;
  const rules: Rule[] = [];
  for (const object of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const selector = labelSelectorOf(object);
    const selected = roles.filter(
      ({ metadata }) => metadata.name !== name && matchesLabels(selector, metadata.labels ?? {}),
    );
    for (const rule of selected.toSorted(byName).flatMap((each) => each.rules ?? [])) {
      if (!rules.some((known) => deepEqual(known, rule))) rules.push(rule);
    }
  }
  return rules;
}

function byName(a: ClusterRole, b: ClusterRole): number {
  const [first = '', second = ''] = [a.metadata.name, b.metadata.name];
  return Buffer.compare(Buffer.from(first), Buffer.from(second));
}
