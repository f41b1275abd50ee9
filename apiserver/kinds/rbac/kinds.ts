import { GROUP } from '../../../shared/names';
import type { NameRule } from '../../../shared/meta/name-rules';
import { pathSegmentProblems } from '../../../shared/meta/dns-names';
import { createdAtRow } from '../columns/created-at';
import { bindingRow } from './columns';
import { clusterRoleBindingRules, clusterRoleRules, roleBindingRules, roleRules } from './rbac-rules';
import type { KindGroup } from '../kind';

/** Names such as `system:node`: a prefix gets no milder treatment. */
const rbacName: NameRule = (name) => pathSegmentProblems(name);

const common = { createsOnUpdate: true, nameRule: rbacName } as const;

export const rbac: KindGroup = {
  group: GROUP.rbac,
  kinds: {
    clusterrolebindings: { strategy: { ...common, ...clusterRoleBindingRules }, row: bindingRow },
    clusterroles: { strategy: { ...common, ...clusterRoleRules }, row: createdAtRow },
    rolebindings: { strategy: { ...common, ...roleBindingRules }, row: bindingRow },
    roles: { strategy: { ...common, ...roleRules }, row: createdAtRow },
  },
};
