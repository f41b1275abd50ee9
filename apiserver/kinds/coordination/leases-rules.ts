import { invalid } from '../../../shared/errors/field-error';
import type { Strategy } from '../../registry/strategy';
import { integer, record } from '../../../shared/object/accessors';
import { positive } from '../rules/primitives';

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
