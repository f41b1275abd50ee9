import { apiVersionOf } from '../object/object';
import { GROUP } from '../names';
import type { Subject } from '../api/types/rbac-v1';
import type { CSIDriverSpec, StorageClass } from '../api/types/storage-v1';
import type { DefaultsTable, MessageDefaults } from './contract';

/** Groups with a row or two. */

const storageClass: MessageDefaults<StorageClass> = {
  values: { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
};
const csiDriverSpec: MessageDefaults<CSIDriverSpec> = {
  values: {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    requiresRepublish: false,
  },
  derive: ({ volumeLifecycleModes: given = [] }) =>
    given.length > 0 ? undefined : { volumeLifecycleModes: ['Persistent'] },
};

export const STORAGE: DefaultsTable = {
  'storage/v1.StorageClass': storageClass,
  'storage/v1beta1.StorageClass': storageClass,
  'storage/v1.CSIDriverSpec': csiDriverSpec,
  'storage/v1beta1.CSIDriverSpec': csiDriverSpec,
};

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

const priorityClass: MessageDefaults<{ readonly preemptionPolicy?: string }> = {
  values: { preemptionPolicy: 'PreemptLowerPriority' },
};

export const SCHEDULING: DefaultsTable = {
  'scheduling/v1.PriorityClass': priorityClass,
  'scheduling/v1beta1.PriorityClass': priorityClass,
  'scheduling/v1alpha1.PriorityClass': priorityClass,
};

export const POLICY: DefaultsTable = {
  'policy/v1beta1.PodSecurityPolicySpec': { values: { allowPrivilegeEscalation: true } },
};

const flowSchemaSpec = zeros({ matchingPrecedence: 1000 });
const limited = zeros({ assuredConcurrencyShares: 30 });
const queuing = zeros({ handSize: 8, queues: 64, queueLengthLimit: 50 });

export const FLOWCONTROL: DefaultsTable = {
  'flowcontrol/v1beta1.FlowSchemaSpec': flowSchemaSpec,
  'flowcontrol/v1alpha1.FlowSchemaSpec': flowSchemaSpec,
  'flowcontrol/v1beta1.LimitedPriorityLevelConfiguration': limited,
  'flowcontrol/v1alpha1.LimitedPriorityLevelConfiguration': limited,
  'flowcontrol/v1beta1.QueuingConfiguration': queuing,
  'flowcontrol/v1alpha1.QueuingConfiguration': queuing,
};

export const AUTHENTICATION: DefaultsTable = {
  'authentication/v1.TokenRequestSpec': { values: { expirationSeconds: 3600 } },
};

/** Defaults of numbers whose zero means that nothing was said. */
function zeros<Name extends string>(values: Readonly<Record<Name, number>>) {
  return {
    derive: (object: Readonly<Record<Name, number>>) =>
      Object.fromEntries(Object.entries(values).filter(([name]) => object[name as Name] === 0)) as Partial<
        typeof values
      >,
  };
}
