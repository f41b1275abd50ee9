import type { ApiObject } from '../../../../shared/object/object';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize';
import { STORAGE_CLASSES } from '../../cluster/resources';
import { attributesOf, clusterOf, outcomeOf, resultOf } from '../testing/plugin-bench';

const cluster = clusterOf([
  [STORAGE_CLASSES, { metadata: { name: 'grows' }, allowVolumeExpansion: true }],
  [STORAGE_CLASSES, { metadata: { name: 'fixed' } }],
]);

const claim = (storage: string, storageClassName: string | undefined, phase = 'Bound'): ApiObject => ({
  metadata: { name: 'c' },
  spec: {
    resources: { requests: { storage } },
    ...(storageClassName === undefined ? {} : { storageClassName }),
  },
  status: { phase },
});

test.each([
  ['a bound claim of a class that grows', claim('1Gi', 'grows'), claim('2Gi', 'grows'), undefined],
  ['a claim that asks for as much', claim('1Gi', 'fixed'), claim('1024Mi', 'fixed'), undefined],
  ['a claim that asks for less', claim('1Gi', 'fixed'), claim('1Mi', 'fixed'), undefined],
  ['a claim that is not bound', claim('1Gi', 'grows', 'Pending'), claim('2Gi', 'grows'), 'only bound'],
  [
    'a claim of a class that does not grow',
    claim('1Gi', 'fixed'),
    claim('2Gi', 'fixed'),
    'must support resize',
  ],
  ['a claim of a class that is gone', claim('1Gi', 'gone'), claim('2Gi', 'gone'), 'must support resize'],
  ['a claim without a class', claim('1Gi', undefined), claim('2Gi', undefined), 'must support resize'],
  ['a claim that changes its class', claim('1Gi', 'fixed'), claim('2Gi', 'grows'), 'must support resize'],
])('%s', async (_what, oldObject, object, problem) => {
  const attributes = attributesOf('v1/persistentvolumeclaims', { operation: 'UPDATE', object, oldObject });
  const outcome = await outcomeOf(persistentVolumeClaimResize, attributes, cluster);
  expect(resultOf(outcome)).toContain(problem ?? 'admitted');
});
