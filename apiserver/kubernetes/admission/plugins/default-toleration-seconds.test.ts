import { TAINT } from '../../../../shared/names';
import { defaultTolerationSeconds } from './default-toleration-seconds';
import { attributesOf, outcomeOf } from '../testing/plugin-bench';

const plugin = defaultTolerationSeconds({ notReady: 11, unreachable: 22 });
const notReady = { key: TAINT.notReady, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 11 };
const unreachable = {
  key: TAINT.unreachable,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 22,
};

test.each([
  ['none', undefined, [notReady, unreachable]],
  ['another', [{ key: 'x', operator: 'Exists' }], [{ key: 'x', operator: 'Exists' }, notReady, unreachable]],
  ['its own', [{ ...notReady, tolerationSeconds: 1 }], [{ ...notReady, tolerationSeconds: 1 }, unreachable]],
  [
    'one of another effect',
    [{ key: TAINT.unreachable, effect: 'NoSchedule' }],
    [{ key: TAINT.unreachable, effect: 'NoSchedule' }, notReady, unreachable],
  ],
  ['one for all effects', [{ key: TAINT.unreachable }], [{ key: TAINT.unreachable }, notReady]],
  ['one for everything', [{ operator: 'Exists' }], [{ operator: 'Exists' }]],
])('a pod with %s', async (_what, tolerations, expected) => {
  const spec = tolerations === undefined ? {} : { tolerations };
  const attributes = attributesOf('v1/pods', { object: { metadata: { name: 'p' }, spec } });
  expect(await outcomeOf(plugin, attributes)).toMatchObject({ spec: { tolerations: expected } });
});
