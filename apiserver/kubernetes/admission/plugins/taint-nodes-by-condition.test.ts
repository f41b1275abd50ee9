import { TAINT } from '../../../../shared/names';
import { taintNodesByCondition } from './taint-nodes-by-condition';
import { attributesOf, outcomeOf } from '../testing/plugin-bench';

const taint = { key: TAINT.notReady, effect: 'NoSchedule' };

test.each([
  [undefined, [taint]],
  [[{ key: 'x', effect: 'NoExecute' }], [{ key: 'x', effect: 'NoExecute' }, taint]],
  [[{ ...taint, value: 'v' }], [{ ...taint, value: 'v' }]],
  [[{ ...taint, effect: 'NoExecute' }], [{ ...taint, effect: 'NoExecute' }, taint]],
])('a new node with taints %j has %j', async (taints, expected) => {
  const spec = taints === undefined ? {} : { taints };
  const attributes = attributesOf('v1/nodes', { object: { metadata: { name: 'n' }, spec } });
  expect(await outcomeOf(taintNodesByCondition, attributes)).toMatchObject({ spec: { taints: expected } });
});
