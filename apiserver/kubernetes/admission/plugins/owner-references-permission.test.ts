import type { OwnerReference } from '../../../../shared/object/object';
import type { ResourceOfKind } from './owner-references-permission';
import { ownerReferencesPermission } from './owner-references-permission';
import { attributesOf, outcomeOf, resultOf } from '../testing/plugin-bench';

const DELETE = 'delete ns configmaps//c';
const FINALIZE = 'update ns replicasets/finalizers/r';
const FINALIZE_NODE = 'update  nodes/finalizers/r';
const FINALIZE_ALL = 'update  */finalizers/*';

const owner = (more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: 'r',
  uid: 'u',
  ...more,
});

const pluginFor = (allowed: readonly string[]) =>
  ownerReferencesPermission(
    async ({ verb, namespace, resource, subresource, name }) =>
      Promise.resolve({
        decision: allowed.includes(`${verb} ${namespace} ${resource}/${subresource}/${name}`)
          ? 'allow'
          : 'no-opinion',
        reason: '',
      }),
    ({ kind }) => RESOURCES[kind],
  );

const RESOURCES: Readonly<Record<string, ReturnType<ResourceOfKind>>> = {
  ReplicaSet: { group: 'apps', resource: 'replicasets', namespaced: true },
  Node: { group: '', resource: 'nodes', namespaced: false },
};

const withOwners = (ownerReferences: readonly OwnerReference[]) => ({
  metadata: { name: 'c', ownerReferences },
});

test.each([
  ['a new owner, and leave to delete', [DELETE], [], [owner()], undefined],
  ['a new owner, and no leave', [], [], [owner()], "on a resource you can't delete"],
  ['no owners, and no leave', [], [], [], undefined],
  [
    'the same owners, and no leave',
    [],
    [owner({ blockOwnerDeletion: true })],
    [owner({ blockOwnerDeletion: true })],
    undefined,
  ],
  ['an owner less, and no leave', [], [owner()], [], "on a resource you can't delete"],
  [
    'an owner that waits, and leave for both',
    [DELETE, FINALIZE],
    [],
    [owner({ blockOwnerDeletion: true })],
    undefined,
  ],
  [
    'an owner that waits, and leave for one',
    [DELETE],
    [owner()],
    [owner({ blockOwnerDeletion: true })],
    "can't set finalizers on",
  ],
  ['an owner that no longer waits', [DELETE], [owner({ blockOwnerDeletion: true })], [owner()], undefined],
  [
    'an owner of an unknown kind that waits',
    [DELETE],
    [],
    [owner({ kind: 'Thing', blockOwnerDeletion: true })],
    "can't set finalizers on",
  ],
  [
    'an owner of an unknown kind that waits, and leave for all',
    [DELETE, FINALIZE_ALL],
    [],
    [owner({ kind: 'Thing', blockOwnerDeletion: true })],
    undefined,
  ],
  [
    'an owner in no namespace that waits, and leave for it',
    [DELETE, FINALIZE_NODE],
    [],
    [owner({ kind: 'Node', blockOwnerDeletion: true })],
    undefined,
  ],
  [
    'an owner in no namespace that waits, and leave within the namespace',
    [DELETE, FINALIZE_NODE.replace('  ', ' ns ')],
    [],
    [owner({ kind: 'Node', blockOwnerDeletion: true })],
    "can't set finalizers on",
  ],
])('%s', async (_what, allowed, before, after, problem) => {
  const object = withOwners(after);
  const attributes = attributesOf('v1/configmaps', {
    operation: 'UPDATE',
    object,
    oldObject: withOwners(before),
  });
  const outcome = await outcomeOf(pluginFor(allowed), attributes);
  expect(resultOf(outcome)).toContain(problem ?? 'admitted');
});

test.each([
  ['any owner', owner(), 'admitted'],
  ['none that waits, and no leave', owner({ blockOwnerDeletion: true }), "can't set finalizers on"],
])('a new object may be given %s', async (_what, given, expected) => {
  const outcome = await outcomeOf(
    pluginFor([]),
    attributesOf('v1/configmaps', { object: withOwners([given]) }),
  );
  expect(resultOf(outcome)).toContain(expected);
});
