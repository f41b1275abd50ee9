import type { Strategy } from '../../registry/strategy';
import { priorityClassRules } from './priority-classes-rules';

/** scheduling. A priority class has a generation, which never changes because its value cannot. */
export const scheduling: Readonly<Record<string, Strategy>> = {
  priorityclasses: {
    ...priorityClassRules,
    prepareForCreate: (object) => ({ ...object, metadata: { ...object.metadata, generation: 1 } }),
  },
};
