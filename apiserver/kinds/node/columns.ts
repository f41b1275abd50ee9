import type { RowOf } from '../columns/cells';
import { ageOf, nameOf, textAt } from '../columns/read';

export const runtimeClassRow: RowOf = (runtimeClass) => [
  nameOf(runtimeClass),
  textAt(runtimeClass, 'handler'),
  ageOf(runtimeClass),
];
