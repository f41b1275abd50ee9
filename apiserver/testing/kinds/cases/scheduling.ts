import { GROUP } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

export const schedulingCases: readonly KindCases[] = [
  {
    kind: 'PriorityClass',
    url: `/apis/${GROUP.scheduling}/v1/priorityclasses`,
    good: { value: 1000 },
    bad: [
      ['a value of the system', { value: 1_000_000_001 }, ['Forbidden value']],
      ['a name of the system', { metadata: { name: 'system-mine' } }, ['Forbidden metadata.name']],
      ['an unknown preemption', { preemptionPolicy: 'Odd' }, ['NotSupported preemptionPolicy']],
    ],
    badChanges: [
      ['another value', { value: 5 }, ['Forbidden Value']],
      ['another preemption', { preemptionPolicy: 'Never' }, ['Invalid preemptionPolicy']],
      // What is immutable is not asked about anything else.
      ['an unknown preemption', { preemptionPolicy: 'Odd' }, ['Invalid preemptionPolicy']],
    ],
    goodChanges: [['another description', { description: 'x' }]],
  },
];
