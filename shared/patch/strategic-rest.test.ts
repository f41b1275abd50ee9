import { messageType } from '../schema/types';
import { restOfStrategicPatch } from './strategic-rest';

const DEPLOYMENT = messageType('apps/v1.Deployment');
const LIVE = {
  metadata: { labels: { a: '1' }, finalizers: ['x'] },
  spec: {
    strategy: { type: 'RollingUpdate' },
    template: { spec: { containers: [{ name: 'a', env: [{ name: 'X', value: '1' }] }] } },
  },
};
const inPod = (spec: object): object => ({ spec: { template: { spec } } });

/** The patch, and what is left of it. */
const ROWS: readonly (readonly [title: string, patch: object, rest: object])[] = [
  ['all that is no directive', { metadata: { labels: { b: null } } }, { metadata: { labels: { b: null } } }],
  [
    'no replacing',
    { metadata: { labels: { $patch: 'replace', b: '1' } } },
    { metadata: { labels: { b: '1' } } },
  ],
  [
    'deleting',
    { metadata: { labels: { $patch: 'delete' } } },
    { metadata: { labels: { $patch: 'delete' } } },
  ],
  [
    'no keys that are retained',
    { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
    { spec: { strategy: { type: 'Recreate' } } },
  ],
  [
    'neither an order nor the list that it is of',
    { metadata: { '$setElementOrder/finalizers': ['y', 'x'], finalizers: ['y'] } },
    { metadata: {} },
  ],
  [
    'what is deleted from a list',
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['x'] } },
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['x'] } },
  ],
  [
    'of a known item as of an object, and all of a new one and of one that is a directive',
    inPod({
      containers: [
        { name: 'a', '$setElementOrder/env': [{ name: 'X' }], image: 'i' },
        { name: 'b', '$setElementOrder/env': [{ name: 'X' }] },
        { name: 'a', $patch: 'delete' },
      ],
    }),
    inPod({
      containers: [
        { name: 'a', image: 'i' },
        { name: 'b', '$setElementOrder/env': [{ name: 'X' }] },
        { name: 'a', $patch: 'delete' },
      ],
    }),
  ],
  [
    'all below what is not there',
    { metadata: { annotations: { $patch: 'replace', b: '1' } } },
    { metadata: { annotations: { $patch: 'replace', b: '1' } } },
  ],
  [
    'all below what the kept keys do not name',
    { metadata: { $retainKeys: [], labels: { $patch: 'replace' } } },
    { metadata: { labels: { $patch: 'replace' } } },
  ],
];

test.each(ROWS)('merging leaves %s', (_title, patch, rest) => {
  const before = JSON.stringify([LIVE, patch]);
  expect(restOfStrategicPatch(DEPLOYMENT, LIVE, patch as Record<string, unknown>)).toEqual(rest);
  expect(JSON.stringify([LIVE, patch])).toBe(before);
});
