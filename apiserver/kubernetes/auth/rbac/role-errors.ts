import { resourceNameOf } from '../../../../shared/object/object';
import { GROUP } from '../../../../shared/names';
import type { RoleSlot } from './role-table';

/** How the kind is called in the text: requests are told of `clusterrole.…`, checks of what is given away of `clusterroles.…`. */
type Number = 'singular' | 'plural';

/** What is said of a role that a binding names and that is not there. */
export function notFoundError({ kind, name }: RoleSlot, number: Number): string {
  if (kind !== 'ClusterRole' && kind !== 'Role') {
    return `unsupported role reference kind: ${JSON.stringify(kind)}`;
  }
  const resource = `${kind.toLowerCase()}${number === 'plural' ? 's' : ''}`;
  return `${resourceNameOf({ group: GROUP.rbac, resource })} ${JSON.stringify(name)} not found`;
}
