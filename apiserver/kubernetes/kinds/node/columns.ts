import type { RuntimeClass } from '../../../../shared/api/types/node-v1';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';

export const runtimeClassTable = tableOf<RuntimeClass>([
  NAME,
  { name: 'Handler', cell: ({ handler }) => handler },
  AGE,
]);
