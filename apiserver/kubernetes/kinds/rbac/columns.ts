import type { ClusterRoleBinding } from '../../../../shared/api/types/rbac-v1';
import { AGE, NAME } from '../columns/common';
import type { Column } from '../columns/table';
import { tableOf } from '../columns/table';

/** Of bindings in a namespace and of those of the cluster. */
export const bindingTable = tableOf<ClusterRoleBinding>([
  NAME,
  { name: 'Role', cell: ({ roleRef }) => `${roleRef.kind}/${roleRef.name}` },
  AGE,
  subjects('Users', 'User'),
  subjects('Groups', 'Group'),
  subjects('ServiceAccounts', 'ServiceAccount'),
]);

function subjects(
  column: string,
  wanted: 'User' | 'Group' | 'ServiceAccount',
): Column<Pick<ClusterRoleBinding, 'subjects'>> {
  return {
    name: column,
    isWide: true,
    cell: ({ subjects: all = [] }) =>
      all
        .filter(({ kind }) => kind === wanted)
        .map(({ name, namespace = '' }) => (wanted === 'ServiceAccount' ? `${namespace}/${name}` : name))
        .join(', '),
  };
}
