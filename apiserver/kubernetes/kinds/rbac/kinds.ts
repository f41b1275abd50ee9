import type { NameRule } from '../../../../shared/meta/name-rules';
import { pathSegmentProblems } from '../../../../shared/meta/dns-names';
import { CREATED_AT_TABLE } from '../../../engine/registry/object-table';
import { bindingTable } from './columns';
import { clusterRoleBindingRules, clusterRoleRules, roleBindingRules, roleRules } from './rbac-rules';
import { kindsOf } from '../kind';

/** Names such as `system:node`: a prefix gets no milder treatment. */
const rbacName: NameRule = (name) => pathSegmentProblems(name);

const common = { createsOnUpdate: true, nameRule: rbacName } as const;

export const rbac = kindsOf('rbac', {
  clusterrolebindings: { strategy: { ...common, ...clusterRoleBindingRules }, table: bindingTable },
  clusterroles: { strategy: { ...common, ...clusterRoleRules }, table: CREATED_AT_TABLE },
  rolebindings: { strategy: { ...common, ...roleBindingRules }, table: bindingTable },
  roles: { strategy: { ...common, ...roleRules }, table: CREATED_AT_TABLE },
});
