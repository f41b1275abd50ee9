import { resourceNameOf } from '../../../../shared/object/object';
import { GROUP } from '../../../../shared/names';
import type { RoleSlot } from './role-table';

/** Upstream writes `clusterrole.…` in authorization reasons and `clusterroles.…` in escalation errors. */
type Number = 'singular' | 'plural';

/** Formats the error for a role that a binding refers to and that does not exist. */
export function notFoundError({ kind, name }: RoleSlot, number: Number): string {
  if (kind !== 'ClusterRole' && kind !== 'Role') {
    return `unsupported role reference kind: ${JSON.stringify(kind)}`;
  }
  const resource = `${kind.toLowerCase()}${number === 'plural' ? 's' : ''}`;
  return `${resourceNameOf({ group: GROUP.rbac, resource })} ${JSON.stringify(name)} not found`;
}
