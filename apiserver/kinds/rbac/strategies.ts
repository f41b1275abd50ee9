import type { Strategy } from '../../registry/strategy';
import { clusterRoleBindingRules, clusterRoleRules, roleBindingRules, roleRules } from './rbac-rules';

/** rbac. */
export const rbac: Readonly<Record<string, Strategy>> = {
  clusterroles: { createsOnUpdate: true, ...clusterRoleRules },
  roles: { createsOnUpdate: true, ...roleRules },
  clusterrolebindings: { createsOnUpdate: true, ...clusterRoleBindingRules },
  rolebindings: { createsOnUpdate: true, ...roleBindingRules },
};
