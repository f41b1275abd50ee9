import type { RowOf } from '../columns/cells';
import { ageOf, flagAt, nameOf, numberAt } from '../columns/read';

export const priorityClassRow: RowOf = (priorityClass) => [
  nameOf(priorityClass),
  numberAt(priorityClass, 'value'),
  flagAt(false, priorityClass, 'globalDefault'),
  ageOf(priorityClass),
];
