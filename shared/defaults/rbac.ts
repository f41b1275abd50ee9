import type { Subject } from '../api/types/rbac-v1';
import { GROUP } from '../names';
import { apiVersionOf } from '../object/object';
import type { DefaultsTable, MessageDefaults } from './contract';

const roleRef: MessageDefaults<{ readonly apiGroup: string }> = { values: { apiGroup: GROUP.rbac } };
const subject: MessageDefaults<Subject> = {
  derive: ({ kind, apiGroup = '' }) =>
    isPerson(kind) && apiGroup === '' ? { apiGroup: GROUP.rbac } : undefined,
};

export const RBAC: DefaultsTable = {
  'rbac/v1.RoleRef': roleRef,
  'rbac/v1beta1.RoleRef': roleRef,
  'rbac/v1alpha1.RoleRef': roleRef,
  'rbac/v1.Subject': subject,
  'rbac/v1beta1.Subject': subject,
  'rbac/v1alpha1.Subject': {
    derive: ({ kind, apiVersion = '' }) => {
      if (apiVersion !== '') return undefined;
      if (kind === 'ServiceAccount') return { apiVersion: 'v1' };
      return isPerson(kind)
        ? { apiVersion: apiVersionOf({ group: GROUP.rbac, version: 'v1alpha1' }) }
        : undefined;
    },
  },
};

function isPerson(kind: string): boolean {
  return kind === 'User' || kind === 'Group';
}
