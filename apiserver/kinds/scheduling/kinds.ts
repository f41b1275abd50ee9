import { GROUP } from '../../../shared/names';
import { priorityClassRow } from './columns';
import { priorityClassRules } from './priority-classes-rules';
import type { KindGroup } from '../kind';

export const scheduling: KindGroup = {
  group: GROUP.scheduling,
  kinds: {
    priorityclasses: {
      strategy: {
        ...priorityClassRules,
        // It has a generation, which never changes because its value cannot.
        prepareForCreate: (object) => ({ ...object, metadata: { ...object.metadata, generation: 1 } }),
      },
      row: priorityClassRow,
    },
  },
};
