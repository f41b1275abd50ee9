import type { ApiObject, OwnerReference } from '../../../../shared/object/object';
import { ANNOTATION, LABEL, NAMESPACE, NODE_LABEL, NODE_USER } from '../../../../shared/names';
import { nodeRestriction } from './node-restriction';
import { NODES, PODS } from '../../cluster/resources';
import type { GivenWrite } from '../testing/plugin-bench';
import { attributesOf, clusterOf, outcomeOf, resultOf } from '../testing/plugin-bench';

const userOf = (name: string, groups: readonly string[] = [NODE_USER.group]) => ({
  name,
  uid: '',
  groups,
  extra: {},
});
const user = userOf(`${NODE_USER.prefix}n1`);

const podOn = (nodeName: string, name = 'p'): ApiObject => ({
  metadata: { name, namespace: 'ns', uid: `uid of ${name}` },
  spec: { nodeName, containers: [{ name: 'c' }] },
});
const cluster = clusterOf([
  [NODES, { metadata: { name: 'n1', uid: 'node uid' } }],
  [PODS, podOn('n1', 'mine')],
  [PODS, podOn('n2', 'other')],
]);

async function result(path: string, given: GivenWrite): Promise<string> {
  return resultOf(await outcomeOf(nodeRestriction(true), attributesOf(path, { user, ...given }), cluster));
}

test.each([
  ['somebody else', userOf('jane'), 'admitted'],
  ['a user of that name in no group', userOf(`${NODE_USER.prefix}n1`, []), 'admitted'],
  ['a node without a name', userOf(NODE_USER.prefix), 'could not determine node from user'],
  ['another node', userOf(`${NODE_USER.prefix}n2`), 'is not allowed to modify node "n1"'],
  ['the node itself', user, 'admitted'],
])('the node n1 is changed by %s', async (_who, by, expected) => {
  const object = { metadata: { name: 'n1' }, spec: {} };
  const given = { operation: 'UPDATE', object, oldObject: object, user: by } as const;
  expect(await result('v1/nodes', given)).toContain(expected);
});

describe('a node and itself', () => {
  const nodeWith = (labels: Record<string, string>, spec: object = {}): ApiObject => ({
    metadata: { name: 'n1', labels },
    spec,
  });
  const absentOwner: OwnerReference = { apiVersion: 'v1', kind: 'Namespace', name: 'x', uid: 'gone' };

  test.each([
    ['a label of its own', { mine: 'x', [LABEL.hostname]: 'n1' }, 'admitted'],
    ['a label for its agent', { 'kubelet.kubernetes.io/x': 'y' }, 'admitted'],
    [
      'a role',
      { [`${LABEL.nodeRolePrefix}master`]: '' },
      `set the following labels: ${LABEL.nodeRolePrefix}master`,
    ],
    ['a restricted label', { [`x.${NODE_LABEL.restrictedNamespace}/y`]: '' }, 'set the following labels'],
  ])('is made with %s', async (_what, labels, expected) => {
    expect(await result('v1/nodes', { object: nodeWith(labels) })).toContain(expected);
  });

  test.each([
    ['a taint', nodeWith({}), nodeWith({}, { taints: [{ key: 'x' }] }), 'is not allowed to modify taints'],
    [
      'a taint less',
      nodeWith({}, { taints: [{ key: 'x' }] }),
      nodeWith({}),
      'is not allowed to modify taints',
    ],
    [
      'a role less',
      nodeWith({ [`${LABEL.nodeRolePrefix}x`]: '' }),
      nodeWith({}),
      'is not allowed to modify labels',
    ],
    [
      'the same role',
      nodeWith({ [`${LABEL.nodeRolePrefix}x`]: '' }),
      nodeWith({ [`${LABEL.nodeRolePrefix}x`]: '' }),
      'admitted',
    ],
    [
      'an owner, whose absence would delete it',
      nodeWith({}),
      { ...nodeWith({}), metadata: { name: 'n1', ownerReferences: [absentOwner] } },
      'node "n1" is not allowed to modify ownerReferences',
    ],
    [
      'the same owner',
      { ...nodeWith({}), metadata: { name: 'n1', ownerReferences: [absentOwner] } },
      { ...nodeWith({}), metadata: { name: 'n1', ownerReferences: [absentOwner] } },
      'admitted',
    ],
  ])('gets %s', async (_what, oldObject, object, expected) => {
    expect(await result('v1/nodes', { operation: 'UPDATE', oldObject, object })).toContain(expected);
  });
});

describe('a node and pods', () => {
  const owner: OwnerReference = {
    apiVersion: 'v1',
    kind: 'Node',
    name: 'n1',
    uid: 'node uid',
    controller: true,
  };
  const mirror = (
    more: { owners?: readonly OwnerReference[]; spec?: object; nodeName?: string } = {},
  ): ApiObject => ({
    metadata: {
      name: 'm',
      annotations: { [ANNOTATION.mirrorPod]: 'x' },
      ownerReferences: more.owners ?? [owner],
    },
    spec: { nodeName: more.nodeName ?? 'n1', containers: [{ name: 'c' }], ...more.spec },
  });

  test.each([
    ['a mirror pod', mirror(), 'admitted'],
    ['any other pod', podOn('n1'), 'can only create mirror pods'],
    [
      'one on another node',
      mirror({ nodeName: 'n2' }),
      'can only create pods with spec.nodeName set to itself',
    ],
    ['one without an owner', mirror({ owners: [] }), 'with an owner reference set to itself'],
    ['one of another owner', mirror({ owners: [{ ...owner, name: 'n2' }] }), 'with a single owner reference'],
    ['one of two owners', mirror({ owners: [owner, owner] }), 'with a single owner reference'],
    ['one of a node of the past', mirror({ owners: [{ ...owner, uid: 'old' }] }), 'UID mismatch'],
    [
      'one that holds its node up',
      mirror({ owners: [{ ...owner, blockOwnerDeletion: true }] }),
      'must not set blockOwnerDeletion',
    ],
    ['one with an account', mirror({ spec: { serviceAccountName: 'a' } }), 'reference a service account'],
    [
      'one with a Secret',
      mirror({ spec: { volumes: [{ secret: { secretName: 's' } }] } }),
      'reference secrets',
    ],
    [
      'one with a ConfigMap',
      mirror({ spec: { volumes: [{ configMap: { name: 'c' } }] } }),
      'reference configmaps',
    ],
    [
      'one with a claim',
      mirror({ spec: { volumes: [{ persistentVolumeClaim: {} }] } }),
      'reference persistentvolumeclaims',
    ],
  ])('makes %s', async (_what, object, expected) => {
    expect(await result('v1/pods', { object })).toContain(expected);
  });

  test.each([
    ['n1', 'admitted'],
    ['n2', 'can only delete pods with spec.nodeName set to itself'],
  ])('deletes one on %s', async (nodeName, expected) => {
    expect(await result('v1/pods', { operation: 'DELETE', oldObject: podOn(nodeName) })).toContain(expected);
  });

  test('updates none', async () => {
    const given = { operation: 'UPDATE', object: podOn('n1'), oldObject: podOn('n1') } as const;
    expect(await result('v1/pods', given)).toContain('can only create and delete mirror pods');
  });

  test.each([
    ['n1', {}, 'admitted'],
    ['n2', {}, 'can only update pod status for pods with spec.nodeName set to itself'],
    ['n1', { a: 'b' }, 'cannot update labels through pod status'],
  ])('reports the status of one on %s with labels %j', async (nodeName, labels, expected) => {
    const oldObject = podOn(nodeName);
    const object = { ...oldObject, metadata: { ...oldObject.metadata, labels } };
    const given = { operation: 'UPDATE', subresource: 'status', object, oldObject } as const;
    expect(await result('v1/pods', given)).toContain(expected);
  });

  test.each([
    ['mine', 'admitted'],
    ['other', 'node n1 can only evict pods with spec.nodeName set to itself'],
    ['gone', '404 pods "gone" not found'],
  ])('evicts the pod %s', async (name, expected) => {
    const given = { subresource: 'eviction', name, object: { metadata: { name } } };
    expect(await result('v1/pods', given)).toContain(expected);
  });
});

describe('a node and tokens', () => {
  const bound = (name: string, uid = `uid of ${name}`) => ({ kind: 'Pod', apiVersion: 'v1', name, uid });
  test.each([
    ['its pod', bound('mine'), 'admitted'],
    ['nothing', undefined, 'not bound to a pod'],
    ['a pod without uid', bound('mine', ''), 'with a pod binding without a uid'],
    ['a pod of the past', bound('mine', 'old'), 'does not match the UID in record'],
    ['a pod elsewhere', bound('other'), 'scheduled on a different node'],
  ])('requests one bound to %s', async (_what, boundObjectRef, expected) => {
    const object = { metadata: {}, spec: boundObjectRef === undefined ? {} : { boundObjectRef } };
    const given = { subresource: 'token', name: 'a', object };
    expect(await result('v1/serviceaccounts', given)).toContain(expected);
  });
});

test.each([
  ['coordination.orch/v1/leases', { namespace: NAMESPACE.nodeLease, name: 'n1' }, 'admitted'],
  [
    'coordination.orch/v1/leases',
    { namespace: NAMESPACE.nodeLease, name: 'n2' },
    'same name as the requesting node',
  ],
  ['coordination.orch/v1/leases', { namespace: 'ns', name: 'n1' }, 'can only access leases in'],
  ['storage.orch/v1/csinodes', { name: 'n1' }, 'admitted'],
  ['storage.orch/v1/csinodes', { name: 'n2' }, 'can only access CSINode with the same name'],
])('a node writes %s %j', async (path, place, expected) => {
  const given = { ...place, operation: 'UPDATE' as const, object: { metadata: { name: place.name } } };
  expect(await result(path, given)).toContain(expected);
});

test.each([
  ['the progress of a volume', '', { capacity: { storage: '2Gi' } }, 'may only update PVC status'],
  ['the progress of a volume', 'status', { capacity: { storage: '2Gi' } }, 'admitted'],
  [
    'the phase',
    'status',
    { phase: 'Lost' },
    'node "n1" is not allowed to update fields other than status.capacity and status.conditions:\nstatus.phase: "Bound" -> "Lost"\n',
  ],
])('a node writes %s of a claim through %j', async (_what, subresource, status, expected) => {
  const oldObject = { metadata: { name: 'c' }, status: { phase: 'Bound', capacity: { storage: '1Gi' } } };
  const object = { ...oldObject, status: { ...oldObject.status, ...status } };
  const given = { operation: 'UPDATE' as const, subresource, object, oldObject };
  expect(await result('v1/persistentvolumeclaims', given)).toContain(expected);
});

test('an update of a claim without resourceVersion is checked by what it changes', async () => {
  const object = { metadata: { name: 'c' }, status: { capacity: { storage: '2Gi' } } };
  const oldObject = { metadata: { name: 'c', resourceVersion: '7' }, status: {} };
  const given = { operation: 'UPDATE' as const, subresource: 'status', object, oldObject };
  expect(await result('v1/persistentvolumeclaims', given)).toBe('admitted');
});

test('connect requests are left to authorization', () => {
  const subject = {
    operation: 'CONNECT',
    group: '',
    resource: 'pods',
    subresource: 'exec',
    namespaced: true,
  } as const;
  expect(nodeRestriction(true).concerns(subject)).toBe(false);
  expect(nodeRestriction(true).concerns({ ...subject, operation: 'CREATE' })).toBe(true);
});

test('without volume expansion, nodes may not write claims', async () => {
  const claim = { metadata: { name: 'p', namespace: 'ns' }, status: {} };
  const given = attributesOf('v1/persistentvolumeclaims', {
    user,
    operation: 'UPDATE',
    subresource: 'status',
    object: claim,
    oldObject: claim,
  });
  const problem = resultOf(await outcomeOf(nodeRestriction(false), given, cluster));
  expect(problem).toContain('node "n1" is not allowed to update persistentvolumeclaim metadata');
});
