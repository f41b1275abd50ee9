import type { RowOf } from '../columns/cells';
import { ageOf, nameOf, textAt } from '../columns/read';

export const leaseRow: RowOf = (lease) => [
  nameOf(lease),
  textAt(lease, 'spec', 'holderIdentity'),
  ageOf(lease),
];
