import { invalid } from '../../../shared/errors/field-error';
import type { Strategy } from '../strategy';
import { integer, record } from '../../../shared/meta/accessors';
import { positive } from './primitives';

export const leaseRules: Pick<Strategy, 'validate'> = {
  validate: (object) => {
    const spec = record(object['spec']);
    const seconds = integer(spec['leaseDurationSeconds']);
    const transitions = integer(spec['leaseTransitions']) ?? 0;
    return [
      ...(seconds === undefined ? [] : positive(seconds, 'spec.leaseDurationSeconds')),
      // The words are upstream's.
      ...(transitions >= 0
        ? []
        : [invalid('spec.leaseTransitions', transitions, 'must to greater or equal than 0')]),
    ];
  },
};
