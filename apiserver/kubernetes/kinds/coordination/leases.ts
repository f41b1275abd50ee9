import type { Lease } from '../../../../shared/api/types/coordination-v1';
import { invalid } from '../../../../shared/errors/field-error';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { positive } from '../rules/primitives';

const leaseRules: Pick<Strategy<Lease>, 'validate'> = {
  validate: ({ spec: { leaseDurationSeconds: seconds, leaseTransitions: transitions = 0 } }) => [
    ...(seconds === undefined ? [] : positive(seconds, 'spec.leaseDurationSeconds')),
    // The words are upstream's.
    ...(transitions >= 0
      ? []
      : [invalid('spec.leaseTransitions', transitions, 'must to greater or equal than 0')]),
  ],
};

const leaseTable = tableOf<Lease>([
  NAME,
  { name: 'Holder', cell: ({ spec }) => spec.holderIdentity ?? '' },
  AGE,
]);

export const leases: Kind<Lease> = {
  strategy: {
    compat: { metadataChecks: 'least' },
    createsOnUpdate: true,
    requiresResourceVersion: true,
    ...leaseRules,
  },
  table: leaseTable,
};
