import type { ClusterRole, PolicyRule } from '../../shared/api/types/rbac-v1';
import { deepEqual } from '../../shared/object/clone';
import { toLabelSelector, matchesLabels } from '../../shared/meta/labels';

/**
 * Returns the rules of all roles that the aggregated role selects, each once, in the order of selectors and role names. Throws
 * SelectorError for an invalid selector.
 */
export function aggregatedRules(role: ClusterRole, roles: readonly ClusterRole[]): readonly PolicyRule[] {
  const { name } = role.metadata;
  const rules: PolicyRule[] = [];
  for (const object of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const selector = toLabelSelector(object);
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
