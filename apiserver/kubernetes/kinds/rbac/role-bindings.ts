import type { ClusterRoleBinding, RoleBinding, RoleRef, Subject } from '../../../../shared/api/types/rbac-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import type { GoValue } from '../../../../shared/errors/go-values';
import { goStruct } from '../../../../shared/errors/go-values';
import { dns1123SubdomainProblems, pathSegmentProblems } from '../../../../shared/meta/dns-names';
import { GROUP } from '../../../../shared/names';
import { deepEqual } from '../../../../shared/object/clone';
import { AGE, NAME } from '../columns/common';
import type { Column } from '../columns/table';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { choice, forEachItem, optionalForm, requiredText } from '../rules/primitives';
import type { Rules } from './roles';
import { rbacStrategy } from './roles';

const roleBindingRules: Rules<RoleBinding> = bindingRules(['Role', 'ClusterRole'], true);
const clusterRoleBindingRules: Rules<ClusterRoleBinding> = bindingRules(['ClusterRole'], false);

function bindingRules(
  roleKinds: readonly string[],
  namespaced: boolean,
): Rules<RoleBinding | ClusterRoleBinding> {
  return {
    validate: ({ roleRef, subjects = [] }) => [
      ...validateRoleRef(roleRef, roleKinds),
      ...forEachItem(subjects, 'subjects', (subject, path) => validateSubject(subject, path, namespaced)),
    ],
    validateUpdate: (next, previous) =>
      deepEqual(next.roleRef, previous.roleRef)
        ? []
        : [invalid('roleRef', roleRefInGo(next.roleRef), 'cannot change roleRef')],
  };
}

function roleRefInGo({ apiGroup, kind, name }: RoleRef): GoValue {
  return goStruct('rbac.RoleRef', {
    APIGroup: goQuote(apiGroup),
    Kind: goQuote(kind),
    Name: goQuote(name),
  });
}

function validateRoleRef({ apiGroup, kind, name }: RoleRef, kinds: readonly string[]): FieldError[] {
  return [
    // Defaulting has written down what an empty one means.
    ...choice(apiGroup, 'roleRef.apiGroup', [GROUP.rbac]),
    ...choice(kind, 'roleRef.kind', kinds),
    ...requiredText(name, 'roleRef.name', pathSegmentProblems),
  ];
}

function validateSubject(subject: Subject, path: string, namespaced: boolean): FieldError[] {
  const { kind, apiGroup, namespace = '' } = subject;
  const name = subject.name === '' ? [required(`${path}.name`)] : [];
  const group = `${path}.apiGroup`;
  switch (kind) {
    case 'ServiceAccount':
      return [
        ...name,
        ...optionalForm(subject.name, `${path}.name`, dns1123SubdomainProblems),
        ...((apiGroup ?? '') === '' ? [] : [notSupported(group, apiGroup, [''])]),
        ...(!namespaced && namespace === '' ? [required(`${path}.namespace`)] : []),
      ];
    case 'User':
    case 'Group':
      return [...name, ...choice(apiGroup ?? GROUP.rbac, group, [GROUP.rbac])];
    default:
      return [...name, ...choice(kind, `${path}.kind`, ['ServiceAccount', 'User', 'Group'])];
  }
}

/** Of bindings in a namespace and of those of the cluster. */
const bindingTable = tableOf<ClusterRoleBinding>([
  NAME,
  { name: 'Role', cell: ({ roleRef }) => `${roleRef.kind}/${roleRef.name}` },
  AGE,
  subjectColumn('Users', 'User'),
  subjectColumn('Groups', 'Group'),
  subjectColumn('ServiceAccounts', 'ServiceAccount'),
]);

function subjectColumn(
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

export const roleBindings: Kind<RoleBinding> = {
  strategy: { ...rbacStrategy, ...roleBindingRules },
  table: bindingTable,
};

export const clusterRoleBindings: Kind<ClusterRoleBinding> = {
  strategy: { ...rbacStrategy, ...clusterRoleBindingRules },
  table: bindingTable,
};
