import { kindsOf } from '../kind';
import { clusterRoleBindings, roleBindings } from './role-bindings';
import { clusterRoles, roles } from './roles';

export const rbac = kindsOf('rbac', {
  clusterrolebindings: clusterRoleBindings,
  clusterroles: clusterRoles,
  rolebindings: roleBindings,
  roles,
});
