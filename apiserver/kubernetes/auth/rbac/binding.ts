import type { StoredKinds } from '../../../../shared/api/types/message-types';
import type { ClusterRoleBinding, RoleBinding } from '../../../../shared/api/types/rbac-v1';
import { accountUserName } from '../../../../shared/meta/account-user-name';
import type { UserInfo } from '../../../engine/request/exchange';
import type { RoleSlot } from './role-table';

export interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

/** A RoleBinding or ClusterRoleBinding, ready for decisions. */
export interface Binding {
  readonly kind: 'ClusterRoleBinding' | 'RoleBinding';
  readonly name: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly subjects: readonly Subject[];
  readonly role: RoleSlot;
}

/** The kinds of roles and bindings, by their resources. */
export type RbacKinds = StoredKinds['rbac'];

/** A binding as it is stored. */
export type StoredBinding = ClusterRoleBinding | RoleBinding;

export function subjectsOf({ subjects = [] }: StoredBinding): readonly Subject[] {
  return subjects.map(({ kind, name, namespace = '' }) => ({ kind, name, namespace }));
}

export interface RoleRef {
  readonly kind: string;
  readonly name: string;
}

export function roleRefOf({ roleRef: { kind, name } }: StoredBinding): RoleRef {
  return { kind, name };
}

/** Returns the user or group that a subject stands for; undefined for an unknown kind, or an account without a namespace. */
export function holderOf(
  subject: Subject,
  bindingNamespace: string,
): { readonly is: 'user' | 'group'; readonly name: string } | undefined {
  switch (subject.kind) {
    case 'User':
      return { is: 'user', name: subject.name };
    case 'Group':
      return { is: 'group', name: subject.name };
    case 'ServiceAccount': {
      const namespace = subject.namespace === '' ? bindingNamespace : subject.namespace;
      if (namespace === '') return undefined;
      return { is: 'user', name: accountUserName(namespace, subject.name) };
    }
    default:
      return undefined;
  }
}

/** Formats `ClusterRoleBinding "x" of ClusterRole "y" to User "z"` with the first subject that matches the user. */
export function describeBinding(binding: Binding, user: UserInfo): string {
  const { kind, name, namespace, role, subjects } = binding;
  const shown = namespace === '' ? name : `${name}/${namespace}`;
  const whole = `${kind} ${JSON.stringify(shown)} of ${role.kind} ${JSON.stringify(role.name)}`;
  const subject = subjects.find((each) => isSubject(each, namespace, user));
  return subject === undefined ? whole : `${whole} to ${describeSubject(subject, namespace)}`;
}

function isSubject(subject: Subject, bindingNamespace: string, { name, groups }: UserInfo): boolean {
  const holder = holderOf(subject, bindingNamespace);
  if (holder === undefined) return false;
  return holder.is === 'user' ? holder.name === name : groups.includes(holder.name);
}

function describeSubject({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  if (kind !== 'ServiceAccount') return `${kind} ${JSON.stringify(name)}`;
  return `${kind} ${JSON.stringify(`${name}/${namespace === '' ? bindingNamespace : namespace}`)}`;
}
