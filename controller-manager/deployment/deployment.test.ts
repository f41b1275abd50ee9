import { RESOURCE } from '../../shared/api/resource-names';
import type { Deployment, ReplicaSet } from '../../shared/api/types/apps-v1';
import { WORKLOAD_ANNOTATION } from '../../shared/workload-names';
import { runReplicaSets } from '../replicaset/replicaset';
import type { WorkloadBench } from '../testing/workload-bench';
import { createWorkloadBench, podTemplate } from '../testing/workload-bench';
import { runDeployments } from './deployment';
import { deploymentStatusOf, msUntilDeadline, rolloutStatusOf } from './deployment-status';
import { isSaturated, maxSurge, maxUnavailable, newSetReplicas, proportionalSizes } from './replica-counts';
import { currentSetAnnotations, lastRevision, maxRevision } from './revisions';

const WEB = { app: 'web' };
const DEPLOYMENTS = RESOURCE.deployments;
const deploymentOf = (spec: Partial<Deployment['spec']> = {}): { readonly spec: Deployment['spec'] } => ({
  spec: {
    replicas: 3,
    selector: { matchLabels: WEB },
    template: podTemplate(WEB),
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    ...spec,
  },
});
const image = (tag: string) => ({ spec: { template: podTemplate(WEB, `web:${tag}`) } });

describe('the controller', () => {
  let bench: WorkloadBench;
  beforeEach(async () => {
    bench = await createWorkloadBench();
    bench.run(runReplicaSets, 'replicaset-controller');
    bench.run(runDeployments, 'deployment-controller');
  });
  afterEach(async () => bench.close());

  /** Plays the nodes until the Deployment is as wanted. */
  const settle = async (holds: (deployment: Deployment) => boolean, name = 'web'): Promise<Deployment> => {
    for (;;) {
      await bench.makeReady();
      const deployment = await bench.read(DEPLOYMENTS, name);
      if (holds(deployment)) return deployment;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const isRolledOut = ({ metadata, spec, status }: Deployment): boolean =>
    status?.observedGeneration === metadata.generation &&
    status?.updatedReplicas === spec.replicas &&
    status?.replicas === spec.replicas &&
    status?.availableReplicas === spec.replicas;
  const setsByRevision = async (): Promise<readonly ReplicaSet[]> =>
    [...(await bench.list(RESOURCE.replicasets))].sort((a, b) => Number(revision(a)) - Number(revision(b)));
  const revision = ({ metadata }: ReplicaSet | Deployment): string | undefined =>
    metadata.annotations?.[WORKLOAD_ANNOTATION.deploymentRevision];

  test('creates a ReplicaSet of the template and reports progress, availability and events', async () => {
    await bench.make(DEPLOYMENTS, 'web', deploymentOf());
    const deployment = await settle(
      (current) =>
        isRolledOut(current) &&
        current.status?.conditions?.some(({ reason }) => reason === 'NewReplicaSetAvailable') === true,
    );
    const [set] = await bench.list(RESOURCE.replicasets);
    const name = set?.metadata.name ?? '';
    const hash = name.replace(/^web-/u, '');
    expect(set?.spec.selector).toEqual({ matchLabels: { ...WEB, 'pod-template-hash': hash } });
    expect(set?.metadata).toMatchObject({
      labels: { ...WEB, 'pod-template-hash': hash },
      annotations: {
        [WORKLOAD_ANNOTATION.deploymentRevision]: '1',
        [WORKLOAD_ANNOTATION.desiredReplicas]: '3',
        [WORKLOAD_ANNOTATION.maxReplicas]: '4',
      },
      ownerReferences: [{ kind: 'Deployment', name: 'web', controller: true, blockOwnerDeletion: true }],
    });
    expect(revision(deployment)).toBe('1');
    expect(deployment.status).toEqual({
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      conditions: [
        expect.objectContaining({ type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' }),
        expect.objectContaining({
          type: 'Progressing',
          status: 'True',
          reason: 'NewReplicaSetAvailable',
          message: `ReplicaSet "${name}" has successfully progressed.`,
        }),
      ],
    });
    await bench.whenList(RESOURCE.events, 'an event of the Deployment', (events) =>
      events.some(({ involvedObject }) => involvedObject.kind === 'Deployment'),
    );
    expect(await bench.eventsOf('Deployment')).toEqual([
      `ScalingReplicaSet: Scaled up replica set ${name} from 0 to 3`,
    ]);
  });

  test('rolls a new template out within surge and availability, undoes it, and keeps the history', async () => {
    await bench.make(DEPLOYMENTS, 'web', deploymentOf({ revisionHistoryLimit: 1 }));
    await settle(isRolledOut);
    await bench.change(DEPLOYMENTS, 'web', image('2'));
    const seen: number[] = [];
    const deployment = await settle((current) => {
      seen.push(current.status?.replicas ?? 0);
      return isRolledOut(current);
    });
    expect(Math.max(...seen)).toBeLessThanOrEqual(4);
    expect(revision(deployment)).toBe('2');
    expect((await setsByRevision()).map(({ spec }) => spec.replicas)).toEqual([0, 3]);

    await bench.change(DEPLOYMENTS, 'web', {
      metadata: { annotations: { [WORKLOAD_ANNOTATION.rollbackTo]: '0' } },
    });
    const undone = await settle((current) => isRolledOut(current) && revision(current) === '3');
    expect(undone.spec.template.spec.containers?.[0]?.image).toBe('web:1');
    expect(undone.metadata.annotations).not.toHaveProperty([WORKLOAD_ANNOTATION.rollbackTo]);
    const sets = await setsByRevision();
    expect(
      sets.map(({ metadata }) => metadata.annotations?.[WORKLOAD_ANNOTATION.deploymentRevisionHistory]),
    ).toEqual([undefined, '1']);
    await bench.change(DEPLOYMENTS, 'web', image('3'));
    await settle((current) => isRolledOut(current) && revision(current) === '4');
    await bench.whenList(RESOURCE.replicasets, 'one old set', (all) => all.length === 2);
  });

  test('does nothing but scaling while it is paused, and keeps proportions', async () => {
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } };
    await bench.make(DEPLOYMENTS, 'web', deploymentOf({ replicas: 4, strategy }));
    await settle(isRolledOut);
    await bench.change(DEPLOYMENTS, 'web', image('2'));
    // No pod becomes ready, so the rollout stops at the surge.
    await bench.whenList(RESOURCE.replicasets, 'a surge of two', (sets) =>
      sets.some(({ spec, status }) => spec.replicas === 2 && status?.replicas === 2),
    );
    await bench.change(DEPLOYMENTS, 'web', { spec: { paused: true, replicas: 8 } });
    const sets = await bench.whenList(
      RESOURCE.replicasets,
      'ten replicas in all',
      (all) => all.reduce((sum, { spec }) => sum + (spec.replicas ?? 0), 0) === 10,
    );
    expect(new Set(sets.map(({ spec }) => spec.replicas))).toEqual(new Set([3, 7]));
    const { status } = await bench.whenObject(DEPLOYMENTS, 'web', (current) =>
      Boolean(current.status?.conditions?.some(({ reason }) => reason === 'DeploymentPaused')),
    );
    expect(status?.updatedReplicas).toBeGreaterThanOrEqual(2);
    await bench.change(DEPLOYMENTS, 'web', { spec: { paused: false } });
    await settle(isRolledOut);
  });

  test('of the strategy Recreate waits for the last old pod', async () => {
    await bench.make(DEPLOYMENTS, 'web', deploymentOf({ replicas: 2, strategy: { type: 'Recreate' } }));
    await settle(isRolledOut);
    // A finalizer keeps one of the old pods.
    const [pod] = await bench.list(RESOURCE.pods);
    const name = pod?.metadata.name ?? '';
    await bench.change(RESOURCE.pods, name, { metadata: { finalizers: ['example.com/hold'] } });
    await bench.change(DEPLOYMENTS, 'web', image('2'));
    await bench.whenObject(RESOURCE.pods, name, ({ metadata }) => metadata.deletionTimestamp !== undefined);
    await bench.whenList(RESOURCE.pods, 'the held pod alone', (pods) => pods.length === 1);
    expect(await bench.list(RESOURCE.replicasets)).toHaveLength(1);
    await bench.change(RESOURCE.pods, name, { metadata: { finalizers: null } });
    await settle(isRolledOut);
    expect(await bench.list(RESOURCE.replicasets)).toHaveLength(2);
  });

  test('reports a rollout that misses its deadline', async () => {
    await bench.make(DEPLOYMENTS, 'web', deploymentOf({ replicas: 1, progressDeadlineSeconds: 1 }));
    const { status } = await bench.whenObject(DEPLOYMENTS, 'web', (current) =>
      Boolean(current.status?.conditions?.some(({ reason }) => reason === 'ProgressDeadlineExceeded')),
    );
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Progressing', status: 'False' }),
    );
  });
});

const deployment = (spec: Partial<Deployment['spec']>, status: Deployment['status'] = {}): Deployment => ({
  metadata: { name: 'web', uid: 'd', generation: 2 },
  ...deploymentOf(spec),
  status,
});
const rolling = (surge: number | string, unavailable: number | string): Partial<Deployment['spec']> => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: surge, maxUnavailable: unavailable } },
});
const set = (
  name: string,
  replicas: number,
  annotated?: readonly [desired: number, max: number],
  available = replicas,
): ReplicaSet => ({
  metadata: {
    name,
    uid: name,
    creationTimestamp: `2021-01-01T00:00:0${name.slice(-1)}Z`,
    annotations:
      annotated === undefined
        ? {}
        : {
            [WORKLOAD_ANNOTATION.desiredReplicas]: String(annotated[0]),
            [WORKLOAD_ANNOTATION.maxReplicas]: String(annotated[1]),
          },
  },
  spec: { replicas, selector: { matchLabels: WEB }, template: podTemplate(WEB) },
  status: { replicas, readyReplicas: available, availableReplicas: available, observedGeneration: 1 },
});

test.each([
  [10, '25%', '25%', 3, 2],
  [4, '25%', '25%', 1, 1],
  [1, '25%', '25%', 1, 0],
  [1, 0, '25%', 0, 1],
  [3, 0, 5, 0, 3],
  [0, 1, 1, 1, 0],
])('%d replicas with surge %s and unavailable %s', (replicas, surge, unavailable, mostMore, mostLess) => {
  const subject = deployment({ replicas, ...rolling(surge, unavailable) });
  expect([maxSurge(subject), maxUnavailable(subject)]).toEqual([mostMore, mostLess]);
});

test.each([
  ['grows by the surge', 10, 0, 3],
  ['stays while there is no room', 13, 3, 3],
  ['does not grow beyond the desired number', 3, 9, 10],
])('the new set %s', (_how, total, current, next) => {
  expect(newSetReplicas(deployment({ replicas: 10, ...rolling(3, 0) }), total, current)).toBe(next);
});

// The cases are those of upstream's TestScale.
test.each([
  ['up from 10 to 12', 12, [set('a1', 10, [10, 10])], { a1: 12 }],
  ['5 more over 5 and 5', 15, [set('a2', 5, [10, 10]), set('a1', 5, [10, 10])], { a2: 8, a1: 7 }],
  ['5 fewer of 5 and 5', 5, [set('a2', 5, [10, 10]), set('a1', 5, [10, 10])], { a2: 3, a1: 2 }],
  [
    'rest to the largest',
    12,
    [set('a2', 5, [10, 10]), set('a1', 3, [10, 10]), set('a0', 2, [10, 10])],
    { a2: 6, a1: 4, a0: 2 },
  ],
  ['to zero', 0, [set('a2', 3, [10, 10]), set('a1', 7, [10, 10])], { a2: 0, a1: 0 }],
])('proportional scaling: %s', (_case, replicas, sets, sizes) => {
  const subject = deployment({ replicas, ...rolling(0, 0) });
  expect(Object.fromEntries(proportionalSizes(subject, sets))).toEqual(sizes);
});

test('a set is saturated when it has all pods and they are available', () => {
  const subject = deployment({ replicas: 2 });
  expect(isSaturated(subject, set('a1', 2, [2, 3]))).toBe(true);
  expect(isSaturated(subject, set('a1', 2, [2, 3], 1))).toBe(false);
  expect(isSaturated(subject, set('a1', 2, [3, 4]))).toBe(false);
  expect(isSaturated(subject, undefined)).toBe(false);
});

describe('status', () => {
  const nowMs = Date.parse('2021-06-01T00:10:00Z');
  const basis = { nowMs, reportsTerminating: false };
  const progressing = (reason: string, lastUpdateTime: string) => ({
    type: 'Progressing',
    status: 'True',
    reason,
    lastUpdateTime,
    lastTransitionTime: lastUpdateTime,
  });

  test('counts the sets and keeps the transition time of a condition whose status is unchanged', () => {
    const earlier = '2021-06-01T00:00:00Z';
    const subject = deployment(
      { replicas: 3, progressDeadlineSeconds: 600 },
      { replicas: 2, updatedReplicas: 0, conditions: [progressing('NewReplicaSetCreated', earlier)] },
    );
    const sets = { current: set('b2', 1, undefined, 0), old: [set('a1', 2)] };
    const { conditions, ...counts } = rolloutStatusOf(subject, sets, basis);
    expect(counts).toEqual({
      observedGeneration: 2,
      replicas: 3,
      updatedReplicas: 1,
      readyReplicas: 2,
      availableReplicas: 2,
      unavailableReplicas: 1,
    });
    expect(conditions).toContainEqual({
      ...progressing('ReplicaSetUpdated', '2021-06-01T00:10:00Z'),
      message: 'ReplicaSet "b2" is progressing.',
      lastTransitionTime: earlier,
    });
  });

  test('shows why a set cannot create pods, and no longer when it can', () => {
    const failure = {
      type: 'ReplicaFailure',
      status: 'True',
      reason: 'FailedCreate',
      lastTransitionTime: '2021-06-01T00:00:00Z',
    };
    const failing: ReplicaSet = { ...set('a1', 1), status: { replicas: 0, conditions: [failure] } };
    const broken = rolloutStatusOf(deployment({}), { current: failing, old: [] }, basis);
    expect(broken.conditions).toContainEqual({ ...failure, lastUpdateTime: failure.lastTransitionTime });
    const fixed = rolloutStatusOf(
      { ...deployment({}), status: broken },
      { current: set('a1', 1), old: [] },
      basis,
    );
    expect(fixed.conditions?.map(({ type }) => type)).not.toContain('ReplicaFailure');
  });

  test.each([
    ['a rollout under way', 'ReplicaSetUpdated', '2021-06-01T00:09:00Z', 541_000],
    ['a rollout that is late', 'ReplicaSetUpdated', '2021-05-01T00:00:00Z', 1_000],
    ['a complete rollout', 'NewReplicaSetAvailable', '2021-06-01T00:09:00Z', undefined],
    ['a failed rollout', 'ProgressDeadlineExceeded', '2021-06-01T00:09:00Z', undefined],
  ])('%s has a deadline', (_which, reason, lastUpdateTime, waitMs) => {
    const subject = deployment(
      { progressDeadlineSeconds: 600 },
      { conditions: [progressing(reason, lastUpdateTime)] },
    );
    expect(msUntilDeadline(subject, nowMs)).toBe(waitMs);
  });

  test('a Deployment without a deadline reports no progress', () => {
    const subject = deployment(
      {},
      { conditions: [progressing('ReplicaSetUpdated', '2021-06-01T00:00:00Z')] },
    );
    expect(rolloutStatusOf(subject, { current: undefined, old: [] }, basis).conditions).toHaveLength(1);
    expect(deploymentStatusOf(subject, { current: undefined, old: [] }, basis).conditions).toHaveLength(2);
  });
});

describe('revisions', () => {
  const revised = (revision: string, history?: string): ReplicaSet => ({
    ...set('a1', 1),
    metadata: {
      name: 'a1',
      annotations: {
        [WORKLOAD_ANNOTATION.deploymentRevision]: revision,
        ...(history === undefined ? {} : { [WORKLOAD_ANNOTATION.deploymentRevisionHistory]: history }),
      },
    },
  });

  test('an undo goes back to the second highest one', () => {
    expect(lastRevision([revised('1'), revised('7'), revised('x'), revised('4')])).toBe(4n);
    expect(lastRevision([revised('1')])).toBe(0n);
  });

  test('the next revision is exact beyond the numbers of JavaScript', () => {
    expect(maxRevision([revised('3'), revised('3546343826724305832'), revised('9223372036854775808')])).toBe(
      3546343826724305832n,
    );
  });

  test.each([
    ['is raised and remembered', revised('1'), { revision: '3', history: '1' }],
    ['is appended to those before', revised('2', '1'), { revision: '3', history: '1,2' }],
    ['is not lowered', revised('5', '1'), { revision: '5', history: '1' }],
  ])('the revision of a current set %s', (_how, current, { revision, history }) => {
    const annotations = currentSetAnnotations(deployment({}), current, 3n);
    expect(annotations[WORKLOAD_ANNOTATION.deploymentRevision]).toBe(revision);
    expect(annotations[WORKLOAD_ANNOTATION.deploymentRevisionHistory]).toBe(history);
  });

  test.each<
    [string, readonly (readonly [observedGeneration: number, terminating?: number])[], number | undefined]
  >([
    [
      'all ReplicaSets report',
      [
        [1, 2],
        [3, 1],
      ],
      3,
    ],
    ['one has no status yet', [[1, 2], [0]], 2],
    ['one does not report', [[1, 2], [1]], undefined],
    ['there is none', [], 0],
    ['none has a status yet', [[0]], 0],
  ])('pods that are being deleted are counted where %s', (_which, sets, expected) => {
    const old = sets.map(([observedGeneration, terminatingReplicas]) => ({
      metadata: {},
      spec: { selector: {} },
      status: { observedGeneration, terminatingReplicas },
    }));
    const subject = deployment({}, { terminatingReplicas: 9 });
    const of = { current: undefined, old: old as never };
    const status = deploymentStatusOf(subject, of, { nowMs: 0, reportsTerminating: true });
    expect(status.terminatingReplicas).toBe(expected);
    const without = deploymentStatusOf(subject, of, { nowMs: 0, reportsTerminating: false });
    expect(without).not.toHaveProperty('terminatingReplicas');
  });
});
