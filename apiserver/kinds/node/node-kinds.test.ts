import { GROUP } from '../../../shared/names';
import { testKind } from '../testing/kind-table';

testKind('RuntimeClass', {
  url: `/apis/${GROUP.node}/v1/runtimeclasses`,
  good: { handler: 'runc', overhead: { podFixed: { cpu: '10m' } } },
  bad: [
    ['no handler', { handler: '' }, ['Invalid handler']],
    ['a negative overhead', { overhead: { podFixed: { cpu: '-1' } } }, ['Invalid overhead.limits[cpu]']],
  ],
  badChanges: [['another handler', { handler: 'other' }, ['Invalid handler']]],
});
