import type { Lease } from '../../../../shared/api/types/coordination-v1';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';

export const leaseTable = tableOf<Lease>([
  NAME,
  { name: 'Holder', cell: ({ spec }) => spec.holderIdentity ?? '' },
  AGE,
]);
