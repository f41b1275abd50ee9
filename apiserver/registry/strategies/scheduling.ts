import type { Strategy } from '../strategy';
import { priorityClassRules } from '../validation/priority-classes';

/** scheduling. A priority class has a generation, which never changes because its value cannot. */
export const scheduling: Readonly<Record<string, Strategy>> = {
  priorityclasses: {
    ...priorityClassRules,
    prepareForCreate: (object) => ({ ...object, metadata: { ...object.metadata, generation: 1 } }),
  },
};
