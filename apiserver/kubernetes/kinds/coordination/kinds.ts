import { leaseTable } from './columns';
import { leaseRules } from './leases-rules';
import { kindsOf } from '../kind';

export const coordination = kindsOf('coordination', {
  leases: {
    strategy: {
      metadataChecks: 'least',
      createsOnUpdate: true,
      requiresResourceVersion: true,
      ...leaseRules,
    },
    table: leaseTable,
  },
});
