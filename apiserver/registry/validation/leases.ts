import type { Strategy } from '../strategy';
import { integer, record } from './accessors';
import { nonNegative, positive } from './primitives';

export const leaseRules: Pick<Strategy, 'validate'> = {
  validate: (object) => {
    const spec = record(object['spec']);
    const seconds = integer(spec['leaseDurationSeconds']);
    return [
      ...(seconds === undefined ? [] : positive(seconds, 'spec.leaseDurationSeconds')),
      ...nonNegative(spec['leaseTransitions'], 'spec.leaseTransitions'),
    ];
  },
};
