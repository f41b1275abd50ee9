import type { ApiObject } from '../../../../shared/object/object';
import { accountUserName } from '../../../../shared/meta/account-user-name';
import type { UserInfo } from '../../../exchange/exchange';
import { record, records, text } from '../../../../shared/object/accessors';
import type { RoleSlot } from './role-table';

export interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

/** Who has which role. */
export interface Binding {
  readonly kind: 'ClusterRoleBinding' | 'RoleBinding';
  readonly name: string;
  /** Empty for the whole cluster. */
  readonly namespace: string;
  readonly subjects: readonly Subject[];
  readonly role: RoleSlot;
}

export function subjectsOf(binding: ApiObject): readonly Subject[] {
  return records(binding['subjects']).map((subject) => ({
    kind: text(subject['kind']),
    name: text(subject['name']),
    namespace: text(subject['namespace']),
  }));
}

export interface RoleRef {
  readonly kind: string;
  readonly name: string;
}

export function roleRefOf(binding: ApiObject): RoleRef {
  const roleRef = record(binding['roleRef']);
  return { kind: text(roleRef['kind']), name: text(roleRef['name']) };
}

/** By whose name a subject is found: a user's or a group's. Undefined for a subject that is nobody. */
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

/** `ClusterRoleBinding "x" of ClusterRole "y" to User "z"`, with the first subject of the binding that is this user. */
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
