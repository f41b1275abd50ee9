import { GROUP } from '../../../shared/names';
import { leaseRow } from './columns';
import { leaseRules } from './leases-rules';
import type { KindGroup } from '../kind';

export const coordination: KindGroup = {
  group: GROUP.coordination,
  kinds: {
    leases: {
      strategy: { createsOnUpdate: true, requiresResourceVersion: true, ...leaseRules },
      row: leaseRow,
    },
  },
};
