import { setTimeout as sleep } from 'node:timers/promises';
import { RESOURCE } from '../../shared/api/resource-names';
import type { Pod } from '../../shared/api/types/core-v1';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '../../shared/api/types/policy-v1';
import type { ObjectMeta } from '../../shared/object/object';
import { runDeployments } from '../deployment/deployment';
import { runReplicaSets } from '../replicaset/replicaset';
import type { WorkloadBench } from '../testing/workload-bench';
import { createWorkloadBench, podTemplate } from '../testing/workload-bench';
import { runDisruption } from './disruption';

const WEB = { app: 'web' };
const BUDGETS = RESOURCE.poddisruptionbudgets;
const PODS = RESOURCE.pods;
type Status = NonNullable<PodDisruptionBudget['status']>;

describe('the controller', () => {
  let bench: WorkloadBench;
  let aheadMs: number;
  let isScaleDown: boolean;
  beforeEach(async () => {
    bench = await createWorkloadBench();
    aheadMs = 0;
    isScaleDown = false;
    const clock = { now: () => Date.now() + aheadMs };
    bench.run(async (context, signal) => {
      const { client } = context;
      const get: typeof client.get = async (resource, ref, options) => {
        if (isScaleDown) throw new Error('no connection');
        return client.get(resource, ref, options);
      };
      await runDisruption({ ...context, client: { ...client, get } }, signal, clock);
    }, 'disruption-controller');
  });
  afterEach(async () => bench.close());

  const makeBudget = async (spec: PodDisruptionBudgetSpec): Promise<void> => {
    await bench.make(BUDGETS, 'web', { spec: { selector: { matchLabels: WEB }, ...spec } });
  };
  const makePod = async (name: string, owner?: object): Promise<Pod> => {
    const ownerReferences = owner === undefined ? [] : [{ controller: true, ...owner }];
    const pod = await bench.make(PODS, name, {
      metadata: { labels: WEB, ownerReferences } as unknown as ObjectMeta,
      spec: podTemplate(WEB).spec,
    });
    await bench.setPodStatus(pod);
    return pod;
  };
  /** The expected, desired, current and allowed numbers once they are so. */
  const whenCounts = async (...expected: readonly number[]): Promise<Status> => {
    const { status } = await bench.whenObject(BUDGETS, 'web', (budget) => {
      const { expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed } = budget.status ?? {};
      const counts = [expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed];
      return expected.every((count, at) => counts[at] === count);
    });
    return status as Status;
  };

  test('counts healthy pods, and those that an eviction is about to take', async () => {
    await makeBudget({ minAvailable: 1 });
    expect((await whenCounts(0, 1, 0, 0)).conditions).toEqual([
      expect.objectContaining({ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }),
    ]);
    for (const name of ['a', 'b']) await makePod(name);
    const { conditions, observedGeneration } = await whenCounts(2, 1, 2, 1);
    expect(observedGeneration).toBe(1);
    expect(conditions).toEqual([
      expect.objectContaining({
        type: 'DisruptionAllowed',
        status: 'True',
        reason: 'SufficientPods',
        observedGeneration: 1,
      }),
    ]);
    // What an eviction writes before it deletes the pod, which then does not happen.
    const time = new Date().toISOString().replace(/\.\d+Z/u, 'Z');
    const spent = { disruptionsAllowed: 0, disruptedPods: { a: time } };
    await bench.change(BUDGETS, 'web', { status: spent }, 'status');
    expect((await whenCounts(2, 1, 1, 0)).disruptedPods).toEqual({ a: time });
    aheadMs = 130_000;
    await bench.change(PODS, 'b', { metadata: { annotations: { touched: 'true' } } });
    expect(await whenCounts(2, 1, 2, 1)).not.toHaveProperty('disruptedPods');
    await bench.whenList(RESOURCE.events, 'NotDeleted', (events) =>
      events.some(({ reason }) => reason === 'NotDeleted'),
    );
    await bench.remove(PODS, 'b', { gracePeriodSeconds: 0 });
    await whenCounts(1, 1, 1, 0);
  });

  test('expects as many pods as their Deployment, and reports pods without an owner', async () => {
    bench.run(runReplicaSets, 'replicaset-controller');
    bench.run(runDeployments, 'deployment-controller');
    await makeBudget({ maxUnavailable: '50%' });
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    const spec = { replicas: 3, selector: { matchLabels: WEB }, template: podTemplate(WEB), strategy };
    await bench.make(RESOURCE.deployments, 'web', { spec });
    await bench.whenList(PODS, 'three pods', (pods) => pods.length === 3);
    await bench.makeReady();
    // Half of three, rounded up.
    await whenCounts(3, 1, 3, 2);
    await makePod('alone');
    await whenCounts(3, 1, 4, 3);
    const events = await bench.whenList(RESOURCE.events, 'an event of the budget', (all) =>
      all.some(({ reason }) => reason === 'UnmanagedPods'),
    );
    const unmanaged = events.find(({ reason }) => reason === 'UnmanagedPods');
    expect(unmanaged).toMatchObject({ type: 'Warning', involvedObject: { kind: 'PodDisruptionBudget' } });
  });

  test('reads the size of an owner of another kind from its scale', async () => {
    const spec = { replicas: 4, selector: { matchLabels: WEB }, template: podTemplate(WEB), strategy: {} };
    const { metadata } = await bench.make(RESOURCE.deployments, 'own', { spec });
    await makeBudget({ maxUnavailable: 1 });
    await makePod('a', { apiVersion: 'apps/v1', kind: 'Deployment', name: 'own', uid: metadata.uid });
    await makePod('b', { apiVersion: 'apps/v1', kind: 'Deployment', name: 'own', uid: metadata.uid });
    expect((await whenCounts(4, 3, 2, 0)).disruptionsAllowed).toBe(0);
  });

  test('allows nothing while the size of an owner cannot be read, and reads it again', async () => {
    const spec = { replicas: 2, selector: { matchLabels: WEB }, template: podTemplate(WEB), strategy: {} };
    const { metadata } = await bench.make(RESOURCE.deployments, 'own', { spec });
    isScaleDown = true;
    await makeBudget({ minAvailable: '50%' });
    await makePod('a', { apiVersion: 'apps/v1', kind: 'Deployment', name: 'own', uid: metadata.uid });
    await bench.whenObject(
      BUDGETS,
      'web',
      ({ status }) => status?.conditions?.[0]?.message === 'no connection' && status.disruptionsAllowed === 0,
    );
    // All passes that events of the pod and of the budget bring have failed by then.
    await sleep(200);
    isScaleDown = false;
    expect((await whenCounts(2, 1, 1, 0)).conditions?.[0]?.reason).toBe('InsufficientPods');
  });

  test('allows nothing while the size of an owner is unknown', async () => {
    await makeBudget({ minAvailable: '50%' });
    await makePod('a', { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' });
    const { status } = await bench.whenObject(
      BUDGETS,
      'web',
      (budget) => budget.status?.conditions?.[0]?.reason === 'SyncFailed',
    );
    expect(status?.disruptionsAllowed).toBe(0);
    expect(status?.conditions?.[0]?.message).toBe('ConfigMap does not implement the scale subresource');
  });
});
