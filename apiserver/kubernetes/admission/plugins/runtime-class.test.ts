import type { ApiObject } from '../../../../shared/object/object';
import { RUNTIME_CLASSES } from '../../cluster/resources';
import { runtimeClass } from './runtime-class';
import { attributesOf, clusterOf, outcomeOf } from '../testing/plugin-bench';

const PODS = 'v1/pods';
const classes = clusterOf([
  [RUNTIME_CLASSES, { metadata: { name: 'plain' }, handler: 'h' }],
  [RUNTIME_CLASSES, { metadata: { name: 'heavy' }, overhead: { podFixed: { cpu: '100m', memory: '64Mi' } } }],
  [
    RUNTIME_CLASSES,
    {
      metadata: { name: 'placed' },
      scheduling: { nodeSelector: { arch: 'arm' }, tolerations: [{ key: 'x', operator: 'Exists' }] },
    },
  ],
]);

async function podWith(spec: object) {
  const object: ApiObject = { metadata: { name: 'p' }, spec };
  const outcome = await outcomeOf(runtimeClass(true), attributesOf(PODS, { object }), classes);
  return typeof outcome === 'string' ? outcome : outcome?.['spec'];
}

const overhead = { cpu: '100m', memory: '64Mi' };

test.each([
  ['no class', {}, {}],
  ['a plain class', { runtimeClassName: 'plain' }, { runtimeClassName: 'plain' }],
  ['a class with overhead', { runtimeClassName: 'heavy' }, { runtimeClassName: 'heavy', overhead }],
  ['the same overhead', { runtimeClassName: 'heavy', overhead }, { runtimeClassName: 'heavy', overhead }],
  [
    'a class with scheduling',
    {
      runtimeClassName: 'placed',
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'y', operator: 'Exists' }],
    },
    {
      runtimeClassName: 'placed',
      nodeSelector: { disk: 'ssd', arch: 'arm' },
      tolerations: [
        { key: 'y', operator: 'Exists' },
        { key: 'x', operator: 'Exists' },
      ],
    },
  ],
  [
    'a toleration that the class covers',
    { runtimeClassName: 'placed', tolerations: [{ key: 'x', operator: 'Equal', value: 'v' }] },
    {
      runtimeClassName: 'placed',
      nodeSelector: { arch: 'arm' },
      tolerations: [{ key: 'x', operator: 'Exists' }],
    },
  ],
])('a pod with %s', async (_what, spec, expected) => {
  expect(await podWith(spec)).toEqual(expected);
});

test.each([
  [{ runtimeClassName: 'none' }, 'RuntimeClass "none" not found'],
  [{ overhead }, 'Pod Overhead set without corresponding RuntimeClass'],
  [{ runtimeClassName: 'plain', overhead }, 'Pod Overhead set without corresponding RuntimeClass'],
  [{ runtimeClassName: 'heavy', overhead: { cpu: '1' } }, "doesn't match RuntimeClass's defined Overhead"],
  [
    { runtimeClassName: 'placed', nodeSelector: { arch: 'x86' } },
    'conflict: runtimeClass.scheduling.nodeSelector[arch]',
  ],
])('a pod with %j is refused', async (spec, problem) => {
  expect(await podWith(spec)).toContain(problem);
});

test('without the gate pods get no overhead', async () => {
  const object = { metadata: { name: 'p' }, spec: { runtimeClassName: 'heavy', overhead: { cpu: '1' } } };
  expect(await outcomeOf(runtimeClass(false), attributesOf(PODS, { object }), classes)).toMatchObject(object);
});
