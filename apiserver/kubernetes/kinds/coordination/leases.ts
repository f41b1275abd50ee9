import type { Lease } from '../../../../shared/api/types/coordination-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, notSupported } from '../../../../shared/errors/field-error';
import { qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { invalidForEach, positive } from '../rules/primitives';

/** The candidate with the oldest emulation version leads. */
export const OLDEST_EMULATION_VERSION = 'OldestEmulationVersion';

/** Validates how a leader is chosen: a strategy of upstream, or one with a domain. Errors are at a `strategy` below the path, as upstream's. */
export function coordinatedStrategy(strategy: string, path: string): FieldError[] {
  const at = `${path}.strategy`;
  if (strategy.includes('/')) return invalidForEach(qualifiedNameProblems(strategy), strategy, at);
  return strategy === OLDEST_EMULATION_VERSION
    ? []
    : [notSupported(at, strategy, [OLDEST_EMULATION_VERSION])];
}

const leaseRules: Pick<Strategy<Lease>, 'validate'> = {
  validate: ({
    spec: {
      leaseDurationSeconds: seconds,
      leaseTransitions: transitions = 0,
      strategy,
      preferredHolder: preferred = '',
    },
  }) => [
    ...(seconds === undefined ? [] : positive(seconds, 'spec.leaseDurationSeconds')),
    // The words are upstream's.
    ...(transitions >= 0
      ? []
      : [invalid('spec.leaseTransitions', transitions, 'must to greater or equal than 0')]),
    ...(strategy === undefined ? [] : coordinatedStrategy(strategy, 'spec.strategy')),
    ...(preferred !== '' && (strategy ?? '') === ''
      ? [forbiddenField('spec.preferredHolder', 'may only be specified if `strategy` is defined')]
      : []),
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
