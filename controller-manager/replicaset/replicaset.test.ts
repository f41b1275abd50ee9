import type { ReplicaSet } from '../../shared/api/types/apps-v1';
import { isSameReplicaStatus, replicaStatusOf } from './replica-status';
import { RESOURCE } from '../../shared/api/resource-names';
import type { Pod } from '../../shared/api/types/core-v1';
import type { ClusterRole } from '../../shared/api/types/rbac-v1';
import { createStore } from '../../shared/informer/store';
import { ANNOTATION, GROUP } from '../../shared/names';
import type { WorkloadBench } from '../testing/workload-bench';
import { createWorkloadBench, podTemplate } from '../testing/workload-bench';
import { Expectations } from '../pods/expectations';
import { podsToDelete } from '../pods/deletion-order';
import { runReplicaSets, runReplicationControllers } from './replicaset';

const WEB = { app: 'web' };
const replicaSetOf = (replicas: number, minReadySeconds = 0) => ({
  spec: { replicas, minReadySeconds, selector: { matchLabels: WEB }, template: podTemplate(WEB) },
});

let bench: WorkloadBench;
beforeEach(async () => {
  bench = await createWorkloadBench();
});
afterEach(async () => bench.close());

test('a set whose pod is never seen is enqueued when its expectation expires, and may act again', () => {
  let nowMs = 0;
  const delays: unknown[] = [];
  const expectations = new Expectations<Pod>({
    store: createStore(),
    clock: { now: () => nowMs },
    queue: { addAfter: (...delay) => void delays.push(delay) },
  });
  expectations.created('default/web', { metadata: { name: 'web-1', uid: 'u' }, spec: { containers: [] } });
  expect(expectations.areMet('default/web')).toBe(false);
  expect(delays).toEqual([['default/web', 300_000]]);
  nowMs = 300_000;
  expect(expectations.areMet('default/web')).toBe(true);
});

describe('a ReplicaSet', () => {
  beforeEach(() => bench.run(runReplicaSets, 'replicaset-controller'));

  test('creates its pods, counts the ready ones, and records events', async () => {
    const set = await bench.make(RESOURCE.replicasets, 'web', replicaSetOf(3));
    await bench.whenObject(RESOURCE.replicasets, 'web', ({ status }) => status?.replicas === 3);
    const pods = await bench.list(RESOURCE.pods);
    expect(pods.map(({ metadata }) => metadata.ownerReferences)).toEqual(
      Array.from({ length: 3 }, () => [
        expect.objectContaining({
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'web',
          uid: set.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        }),
      ]),
    );
    expect(pods.every(({ metadata }) => metadata.generateName === 'web-')).toBe(true);
    await bench.makeReady();
    const { status } = await bench.whenObject(
      RESOURCE.replicasets,
      'web',
      (current) => current.status?.availableReplicas === 3,
    );
    expect(status).toEqual({
      replicas: 3,
      fullyLabeledReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      observedGeneration: 1,
    });
    await bench.whenList(RESOURCE.events, 'three events', (events) => events.length === 3);
    expect(await bench.eventsOf('ReplicaSet')).toEqual(
      pods.map(({ metadata }) => `SuccessfulCreate: Created pod: ${metadata.name ?? ''}`).sort(),
    );
  });

  test('replaces a pod that is deleted or has failed, and deletes surplus pods, the unready first', async () => {
    await bench.make(RESOURCE.replicasets, 'web', replicaSetOf(2));
    const [first, second] = await bench.whenList(RESOURCE.pods, 'two pods', (pods) => pods.length === 2);
    await bench.setPodStatus(first as Pod);
    await bench.setPodStatus(second as Pod, { phase: 'Failed', conditions: [] });
    await bench.whenList(RESOURCE.pods, 'a third pod', (pods) => pods.length === 3);
    await bench.change(RESOURCE.replicasets, 'web', { spec: { replicas: 1 } });
    const rest = await bench.whenList(
      RESOURCE.pods,
      'one active pod',
      (pods) => pods.filter(({ status }) => status?.phase !== 'Failed').length === 1,
    );
    expect(new Set(rest.map(({ metadata }) => metadata.name))).toEqual(
      new Set([first?.metadata.name, second?.metadata.name]),
    );
  });

  test('adopts a matching orphan, and releases a pod whose labels match no more', async () => {
    await bench.make(RESOURCE.pods, 'orphan', { metadata: { labels: WEB }, spec: podTemplate(WEB).spec });
    await bench.make(RESOURCE.replicasets, 'web', replicaSetOf(1));
    const adopted = await bench.whenObject(
      RESOURCE.pods,
      'orphan',
      ({ metadata }) => metadata.ownerReferences?.length === 1,
    );
    expect(adopted.metadata.ownerReferences?.[0]?.name).toBe('web');
    await bench.change(RESOURCE.pods, 'orphan', { metadata: { labels: { app: 'other' } } });
    const released = await bench.whenObject(
      RESOURCE.pods,
      'orphan',
      ({ metadata }) => metadata.ownerReferences === undefined,
    );
    expect(released.metadata.labels).toEqual({ app: 'other' });
    await bench.whenList(RESOURCE.pods, 'a new pod', (pods) => pods.length === 2);
  });

  test('is available once its pods have been ready for minReadySeconds', async () => {
    await bench.make(RESOURCE.replicasets, 'web', replicaSetOf(1, 1));
    await bench.whenList(RESOURCE.pods, 'a pod', (pods) => pods.length === 1);
    await bench.makeReady();
    await bench.whenObject(RESOURCE.replicasets, 'web', ({ status }) => status?.availableReplicas === 1);
    expect((await bench.read(RESOURCE.replicasets, 'web')).status?.readyReplicas).toBe(1);
  });
});

test('a ReplicaSet whose pods are refused has a condition and an event, and tries one pod at a time', async () => {
  const role = `/apis/${GROUP.rbac}/v1/clusterroles/system:controller:replicaset-controller`;
  const { rules } = (await bench.call('GET', role)) as ClusterRole;
  const weaker = rules?.map((rule) => ({ ...rule, verbs: rule.verbs?.filter((verb) => verb !== 'create') }));
  const events = { apiGroups: [''], resources: ['events'], verbs: ['create'] };
  await bench.call('PUT', role, {
    ...(await bench.call('GET', role)),
    rules: [...(weaker ?? []), events],
  });
  bench.run(runReplicaSets, 'replicaset-controller');
  await bench.make(RESOURCE.replicasets, 'web', replicaSetOf(5));
  const { status } = await bench.whenObject(
    RESOURCE.replicasets,
    'web',
    (current) => current.status?.conditions !== undefined,
  );
  expect(status?.conditions).toEqual([
    expect.objectContaining({ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }),
  ]);
  const [event] = await bench.whenList(RESOURCE.events, 'an event', (all) => all.length > 0);
  expect(event).toMatchObject({ type: 'Warning', reason: 'FailedCreate' });
});

test('a ReplicationController creates its pods and deletes them when it is scaled to 0', async () => {
  bench.run(runReplicationControllers, 'replication-controller');
  await bench.make(RESOURCE.replicationcontrollers, 'old', {
    spec: { replicas: 2, selector: WEB, template: podTemplate(WEB) },
  });
  const pods = await bench.whenList(RESOURCE.pods, 'two pods', (all) => all.length === 2);
  expect(pods[0]?.metadata.ownerReferences?.[0]?.kind).toBe('ReplicationController');
  await bench.change(RESOURCE.replicationcontrollers, 'old', { spec: { replicas: 0 } });
  await bench.whenList(RESOURCE.pods, 'no pods', (all) => all.length === 0);
});

describe('pods to delete', () => {
  const nowMs = Date.parse('2021-06-01T00:00:00Z');
  const pod = (
    name: string,
    parts: Partial<Pod['spec']> & {
      readonly ready?: string;
      readonly phase?: string;
      readonly created?: string;
      readonly cost?: string;
    },
  ): Pod => ({
    metadata: {
      name,
      uid: name,
      creationTimestamp: parts.created ?? '2021-01-01T00:00:00Z',
      annotations: parts.cost === undefined ? {} : { [ANNOTATION.podDeletionCost]: parts.cost },
    },
    spec: { containers: [], nodeName: parts.nodeName ?? 'n' },
    status: {
      phase: parts.phase ?? 'Running',
      conditions:
        parts.ready === undefined
          ? []
          : [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: parts.ready }],
    },
  });
  const READY = '2021-03-01T00:00:00Z';

  test.each([
    ['unassigned before assigned', pod('a', { nodeName: '' }), pod('b', {})],
    ['pending before running', pod('a', { phase: 'Pending' }), pod('b', {})],
    ['unready before ready', pod('a', {}), pod('b', { ready: READY })],
    ['cheaper before dearer', pod('a', { cost: '-1', ready: READY }), pod('b', { ready: READY })],
    ['ready for less time', pod('a', { ready: '2021-05-31T23:59:00Z' }), pod('b', { ready: READY })],
    ['younger before older', pod('a', { created: '2021-05-31T23:59:00Z' }), pod('b', {})],
    ['equal ones by uid', pod('a', { created: '2021-01-01T00:00:01Z' }), pod('b', {})],
  ])('%s', (_rule, first, second) => {
    for (const pods of [
      [first, second],
      [second, first],
    ])
      expect(podsToDelete(pods, pods, { count: 1, nowMs })).toEqual([first]);
  });

  test('those with most companions on their node come first', () => {
    const pods = [pod('a', { nodeName: 'x' }), pod('b', { nodeName: 'y' }), pod('c', { nodeName: 'y' })];
    expect(podsToDelete(pods, pods, { count: 1, nowMs }).map(({ spec }) => spec.nodeName)).toEqual(['y']);
  });
});

test.each<[counted: number | undefined, terminating: number | undefined, isSame: boolean]>([
  [undefined, undefined, true],
  [undefined, 0, false],
  [1, 1, true],
  [1, undefined, false],
])('a status with %j pods that are being deleted equals one with %j: %j', (counted, terminating, isSame) => {
  const set = { metadata: {}, spec: { selector: {} } } as ReplicaSet;
  const observed = { pods: [], failure: undefined, nowMs: 0 };
  const current = replicaStatusOf(set, { ...observed, terminating: counted });
  const next = replicaStatusOf(set, { ...observed, terminating });
  expect(isSameReplicaStatus(current, next)).toBe(isSame);
});
