import type { PriorityClass } from '../../../../shared/api/types/scheduling-v1';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';

export const priorityClassTable = tableOf<PriorityClass>([
  NAME,
  { name: 'Value', type: 'integer', cell: ({ value }) => value },
  { name: 'Global-Default', type: 'boolean', cell: ({ globalDefault = false }) => globalDefault },
  AGE,
]);
