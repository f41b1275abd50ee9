import { priorityClassTable } from './columns';
import { priorityClassRules } from './priority-classes-rules';
import type { PriorityClass } from '../../../../shared/api/types/scheduling-v1';
import { kindsOf } from '../kind';

export const scheduling = kindsOf('scheduling', {
  priorityclasses: {
    strategy: {
      metadataChecks: 'old names',
      ...priorityClassRules,
      // It has a generation, which never changes because its value cannot.
      prepareForCreate: (object: PriorityClass) => ({
        ...object,
        metadata: { ...object.metadata, generation: 1 },
      }),
    },
    table: priorityClassTable,
  },
});
