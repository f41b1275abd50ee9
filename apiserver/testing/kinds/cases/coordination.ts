import { GROUP } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

export const coordinationCases: readonly KindCases[] = [
  {
    kind: 'Lease',
    url: `/apis/${GROUP.coordination}/v1/namespaces/default/leases`,
    good: { spec: { holderIdentity: 'me', leaseDurationSeconds: 15 } },
    bad: [
      ['no time', { spec: { leaseDurationSeconds: 0 } }, ['Invalid spec.leaseDurationSeconds']],
      ['fewer than no changes', { spec: { leaseTransitions: -1 } }, ['Invalid spec.leaseTransitions']],
    ],
  },
];
