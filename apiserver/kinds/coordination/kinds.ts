import { leaseTable } from './columns';
import { leaseRules } from './leases-rules';
import { kindsOf } from '../kind';

export const coordination = kindsOf('coordination', {
  leases: {
    strategy: { createsOnUpdate: true, requiresResourceVersion: true, ...leaseRules },
    table: leaseTable,
  },
});
