import { GROUP } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

export const nodeCases: readonly KindCases[] = [
  {
    kind: 'RuntimeClass',
    url: `/apis/${GROUP.node}/v1/runtimeclasses`,
    good: { handler: 'runc', overhead: { podFixed: { cpu: '10m' } } },
    bad: [
      ['no handler', { handler: '' }, ['Invalid handler']],
      ['a negative overhead', { overhead: { podFixed: { cpu: '-1' } } }, ['Invalid overhead.limits[cpu]']],
      [
        'a toleration without a key',
        { scheduling: { tolerations: [{ operator: 'Equal' }] } },
        ['Invalid scheduling.tolerations.tolerations[0].operator'],
      ],
      [
        'a toleration twice',
        {
          scheduling: {
            tolerations: [{ operator: 'Exists' }, { operator: 'Exists', tolerationSeconds: 1, effect: '' }],
          },
        },
        ['Duplicate scheduling.tolerations[1]', 'Invalid scheduling.tolerations.tolerations[1].effect'],
      ],
    ],
    badChanges: [['another handler', { handler: 'other' }, ['Invalid handler']]],
  },
];
