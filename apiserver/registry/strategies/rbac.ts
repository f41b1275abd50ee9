import type { Strategy } from '../strategy';
import { clusterRoleBindingRules, clusterRoleRules, roleBindingRules, roleRules } from '../validation/rbac';

/** rbac. */
export const rbac: Readonly<Record<string, Strategy>> = {
  clusterroles: { createsOnUpdate: true, ...clusterRoleRules },
  roles: { createsOnUpdate: true, ...roleRules },
  clusterrolebindings: { createsOnUpdate: true, ...clusterRoleBindingRules },
  rolebindings: { createsOnUpdate: true, ...roleBindingRules },
};
