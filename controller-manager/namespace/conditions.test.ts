import type { DeletionReport } from './conditions';
import { conditionsAfter } from './conditions';

const FIRST = '2024-01-01T00:00:00Z';
const LATER = '2024-01-01T00:00:09Z';

const nothing: DeletionReport = {
  remaining: new Map(),
  finalizers: new Map(),
  estimateSeconds: 0,
  errors: [],
  discovery: { failures: [], malformed: [] },
};

test('a pass without failures writes all five conditions as False, once', () => {
  const conditions = conditionsAfter([], nothing, FIRST);
  expect(conditions?.map(({ type, status, reason }) => [type, status, reason])).toEqual([
    ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered'],
    ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'ParsedGroupVersions'],
    ['NamespaceDeletionContentFailure', 'False', 'ContentDeleted'],
    ['NamespaceContentRemaining', 'False', 'ContentRemoved'],
    ['NamespaceFinalizersRemaining', 'False', 'ContentRemoved'],
  ]);
  expect(conditionsAfter(conditions ?? [], nothing, LATER)).toBeUndefined();
});

test('remaining content is listed in a stable order, and the transition time changes only with the status', () => {
  const before =
    conditionsAfter([{ type: 'Other', status: 'True', lastTransitionTime: null }], nothing, FIRST) ?? [];
  const report = (pods: number): DeletionReport => ({
    ...nothing,
    remaining: new Map([
      ['replicasets.apps', 1],
      ['pods.', pods],
    ]),
    finalizers: new Map([['example.com/hold', pods]]),
  });
  const two = conditionsAfter(before, report(2), LATER) ?? [];
  expect(two[0]).toEqual({ type: 'Other', status: 'True', lastTransitionTime: null });
  expect(two.filter(({ status, type }) => status === 'True' && type !== 'Other')).toEqual([
    {
      type: 'NamespaceContentRemaining',
      status: 'True',
      lastTransitionTime: LATER,
      reason: 'SomeResourcesRemain',
      message:
        'Some resources are remaining: pods. has 2 resource instances, replicasets.apps has 1 resource instances',
    },
    {
      type: 'NamespaceFinalizersRemaining',
      status: 'True',
      lastTransitionTime: LATER,
      reason: 'SomeFinalizersRemain',
      message:
        'Some content in the namespace has finalizers remaining: example.com/hold in 2 resource instances',
    },
  ]);
  const one = conditionsAfter(two, report(1), '2024-01-01T00:00:30Z');
  expect(one?.find(({ type }) => type === 'NamespaceContentRemaining')).toMatchObject({
    lastTransitionTime: LATER,
    message: expect.stringContaining('pods. has 1') as string,
  });
});

test('failures of discovery, parsing and deletion each have their condition', () => {
  const conditions = conditionsAfter(
    [],
    {
      ...nothing,
      errors: [new Error('b failed'), new Error('a failed')],
      discovery: { failures: [{ groupVersion: 'x/v1', error: new Error('down') }], malformed: ['a/b/c'] },
    },
    FIRST,
  );
  expect(conditions?.slice(0, 3).map(({ status, message }) => [status, message])).toEqual([
    [
      'True',
      'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: x/v1: down',
    ],
    ['True', 'unexpected GroupVersion string: a/b/c'],
    ['True', 'Failed to delete all resource types, 2 remaining: a failed, b failed'],
  ]);
});
