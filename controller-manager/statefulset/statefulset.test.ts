import { setTimeout as sleep } from 'node:timers/promises';
import { RESOURCE } from '../../shared/api/resource-names';
import type { StatefulSet, StatefulSetSpec } from '../../shared/api/types/apps-v1';
import type { PersistentVolumeClaim, Pod } from '../../shared/api/types/core-v1';
import type { Client } from '../../shared/client/client';
import { systemClock } from '../../shared/concurrency/clock';
import { createWorkQueue } from '../../shared/concurrency/work-queue';
import { alreadyExists } from '../../shared/errors/status-error';
import type { Informer } from '../../shared/informer/informer';
import type { Store } from '../../shared/informer/store';
import { createStore } from '../../shared/informer/store';
import { Expectations } from '../pods/expectations';
import { MANAGER_GATES } from '../runtime/controller-options';
import { loadAtLevel } from '../../shared/testing/load-at-level';
import { eventually } from '../../shared/testing/eventually';
import { WORKLOAD_LABEL } from '../../shared/workload-names';
import type * as WorkloadBenchModule from '../testing/workload-bench';
import { ownersOfClaim } from './claim-owners';
import { StatefulControl } from './stateful-control';
import { slotsOf } from './stateful-pods';
import type * as StatefulSetModule from './statefulset';

const { createWorkloadBench, podTemplate, runStatefulSets } = loadAtLevel('1.36', () => ({
  ...jest.requireActual<typeof WorkloadBenchModule>('../testing/workload-bench'),
  ...jest.requireActual<typeof StatefulSetModule>('./statefulset'),
}));

const DB = { app: 'db' };
const SETS = RESOURCE.statefulsets;
const PODS = RESOURCE.pods;
const setOf = (spec: Partial<StatefulSetSpec> = {}): { readonly spec: StatefulSetSpec } => ({
  spec: {
    replicas: 3,
    serviceName: 'db',
    selector: { matchLabels: DB },
    template: podTemplate(DB),
    updateStrategy: { type: 'RollingUpdate' },
    ...spec,
  },
});
const CLAIM = {
  metadata: { name: 'data', labels: { tier: 'fast' } },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};
const image = (tag: string) => ({ spec: { template: podTemplate(DB, `db:${tag}`) } });
const gates = Object.fromEntries(MANAGER_GATES.map((gate) => [gate, true])) as never;

describe('the controller', () => {
  let bench: WorkloadBenchModule.WorkloadBench;
  beforeEach(async () => {
    bench = await createWorkloadBench();
  });
  afterEach(async () => bench.close());

  const start = (options = {}): void => bench.run(runStatefulSets, 'statefulset-controller', options);
  const names = (pods: readonly Pod[]): readonly string[] =>
    pods.map(({ metadata }) => metadata.name ?? '').sort();
  const imagesOf = (pods: readonly Pod[]): readonly string[] =>
    [...pods]
      .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
      .map(({ spec }) => spec.containers?.[0]?.image ?? '');
  /** Plays the nodes until the set is as wanted. */
  const settle = async (holds: (set: StatefulSet) => boolean): Promise<readonly Pod[]> => {
    await eventually('the set is as wanted', async () => {
      await bench.makeReady();
      return holds(await bench.read(SETS, 'db'));
    });
    return bench.list(PODS);
  };
  const isRolledOut = ({ metadata, spec, status }: StatefulSet): boolean =>
    status?.observedGeneration === metadata.generation &&
    status?.currentRevision === status?.updateRevision &&
    status?.readyReplicas === spec.replicas &&
    status?.replicas === spec.replicas;

  test('creates pods one after the other, with their identity, and takes them down in reverse', async () => {
    start();
    await bench.make(SETS, 'db', setOf());
    expect(names(await bench.whenList(PODS, 'the first pod', (pods) => pods.length > 0))).toEqual(['db-0']);
    await bench.whenObject(SETS, 'db', ({ status }) => status?.replicas === 1);
    expect(names(await bench.list(PODS))).toEqual(['db-0']);
    const pods = await settle(isRolledOut);
    expect(names(pods)).toEqual(['db-0', 'db-1', 'db-2']);
    const revisions = await bench.list(RESOURCE.controllerrevisions);
    expect(revisions).toHaveLength(1);
    const revision = revisions[0]?.metadata.name;
    expect(pods.find(({ metadata }) => metadata.name === 'db-1')).toMatchObject({
      metadata: {
        labels: {
          ...DB,
          [WORKLOAD_LABEL.statefulPodName]: 'db-1',
          [WORKLOAD_LABEL.podIndex]: '1',
          [WORKLOAD_LABEL.controllerRevision]: revision,
        },
        ownerReferences: [{ kind: 'StatefulSet', name: 'db', controller: true }],
      },
      spec: { hostname: 'db-1', subdomain: 'db' },
    });
    const set = await bench.read(SETS, 'db');
    expect(set.status).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      currentRevision: revision,
      updateRevision: revision,
      collisionCount: 0,
    });
    await bench.whenList(RESOURCE.events, 'three events', (events) => events.length === 3);
    expect(await bench.eventsOf('StatefulSet')).toEqual(
      [0, 1, 2].map(
        (ordinal) => `SuccessfulCreate: Create Pod db-${String(ordinal)} in StatefulSet db successful`,
      ),
    );
    await bench.change(SETS, 'db', { spec: { replicas: 1 } });
    await settle(({ status }) => status?.replicas === 1);
    expect(
      bench.writes.filter((write) => /^DELETE .*\/pods\//u.test(write)).map((write) => write.slice(-1)),
    ).toEqual(['2', '1']);
  });

  test('updates from the highest ordinal down to the partition, undoes by an old revision, keeps the history', async () => {
    start();
    await bench.make(SETS, 'db', setOf({ podManagementPolicy: 'Parallel', revisionHistoryLimit: 1 }));
    expect(names(await bench.whenList(PODS, 'all at once', (pods) => pods.length === 3))).toHaveLength(3);
    await settle(isRolledOut);
    const first = (await bench.read(SETS, 'db')).status?.currentRevision;
    await bench.change(SETS, 'db', {
      spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } },
    });
    await bench.change(SETS, 'db', image('2'));
    const partly = await settle(({ status }) => status?.updatedReplicas === 1 && status.readyReplicas === 3);
    expect(imagesOf(partly)).toEqual(['web:1', 'web:1', 'db:2']);
    expect((await bench.read(SETS, 'db')).status).toMatchObject({
      currentReplicas: 2,
      currentRevision: first,
    });
    // A pod below the partition that is lost comes back as it was.
    const lost = (await bench.read(PODS, 'db-0')).metadata.uid;
    await bench.remove(PODS, 'db-0');
    await bench.whenObject(PODS, 'db-0', ({ metadata }) => metadata.uid !== lost);
    await settle(({ status }) => status?.readyReplicas === 3 && status.currentReplicas === 2);
    expect(imagesOf(await bench.list(PODS))).toEqual(['web:1', 'web:1', 'db:2']);
    await bench.change(SETS, 'db', { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
    expect(imagesOf(await settle(isRolledOut))).toEqual(['db:2', 'db:2', 'db:2']);
    // What `kubectl rollout undo` does.
    await bench.change(SETS, 'db', { spec: { template: podTemplate(DB) } });
    expect(imagesOf(await settle((set) => isRolledOut(set) && set.status?.updateRevision === first))).toEqual(
      ['web:1', 'web:1', 'web:1'],
    );
    const revisions = await bench.list(RESOURCE.controllerrevisions);
    expect(revisions.map(({ revision }) => Number(revision)).sort((a, b) => a - b)).toEqual([2, 3]);
    await bench.change(SETS, 'db', image('3'));
    await settle(isRolledOut);
    await bench.whenList(RESOURCE.controllerrevisions, 'one old revision', (all) => all.length === 2);
  });

  test('replaces failed pods, leaves updates to OnDelete, and updates several at once by maxUnavailable', async () => {
    start({ gates });
    await bench.make(
      SETS,
      'db',
      setOf({ podManagementPolicy: 'Parallel', updateStrategy: { type: 'OnDelete' } }),
    );
    const [before] = await settle(({ status }) => status?.readyReplicas === 3);
    if (before !== undefined) await bench.setPodStatus(before, { phase: 'Failed' });
    await bench.whenList(PODS, 'another pod of the name', (pods) =>
      pods.some(
        ({ metadata }) => metadata.name === before?.metadata.name && metadata.uid !== before?.metadata.uid,
      ),
    );
    await bench.change(SETS, 'db', image('2'));
    await settle(
      ({ metadata, status }) =>
        status?.observedGeneration === metadata.generation && status?.readyReplicas === 3,
    );
    expect(imagesOf(await bench.list(PODS))).toEqual(['web:1', 'web:1', 'web:1']);
    await bench.change(SETS, 'db', {
      spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } },
    });
    // No new pod becomes ready, so that the update stops after two.
    await bench.whenList(
      PODS,
      'two updated pods',
      (pods) => imagesOf(pods).filter((each) => each === 'db:2').length === 2,
    );
    await bench.whenObject(
      SETS,
      'db',
      ({ status }) => status?.updatedReplicas === 2 && status.replicas === 3,
    );
    expect(imagesOf(await bench.list(PODS))).toEqual(['web:1', 'db:2', 'db:2']);
  });

  test('creates a claim for each pod, which stays when the pod goes', async () => {
    start();
    await bench.make(SETS, 'db', setOf({ replicas: 2, volumeClaimTemplates: [CLAIM] }));
    const pods = await settle(isRolledOut);
    expect(
      pods.map(({ spec }) => spec.volumes?.find(({ name }) => name === 'data')?.persistentVolumeClaim),
    ).toEqual([{ claimName: 'data-db-0' }, { claimName: 'data-db-1' }]);
    await bench.change(SETS, 'db', { spec: { replicas: 1 } });
    await settle(({ status }) => status?.replicas === 1);
    const claims = await bench.list(RESOURCE.persistentvolumeclaims);
    expect(claims.map(({ metadata }) => [metadata.name, metadata.labels])).toEqual([
      ['data-db-0', { tier: 'fast', ...DB }],
      ['data-db-1', { tier: 'fast', ...DB }],
    ]);
  });

  test('waits for the deletion of the claim of an earlier pod', async () => {
    start();
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'db-0', uid: 'earlier' }];
    await bench.make(RESOURCE.persistentvolumeclaims, 'data-db-0', {
      metadata: { ownerReferences },
      spec: CLAIM.spec,
    });
    const persistentVolumeClaimRetentionPolicy = { whenScaled: 'Delete', whenDeleted: 'Retain' };
    await bench.make(
      SETS,
      'db',
      setOf({ replicas: 1, volumeClaimTemplates: [CLAIM], persistentVolumeClaimRetentionPolicy }),
    );
    await bench.whenObject(SETS, 'db', ({ status }) => status?.observedGeneration === 1);
    // The pass that follows the status has ended by then.
    await sleep(100);
    expect(await bench.list(PODS)).toEqual([]);
    await bench.remove(RESOURCE.persistentvolumeclaims, 'data-db-0');
    await bench.whenObject(PODS, 'db-0', () => true);
  });
});

/** Creates the pod of ordinal 0; returns the reasons of the events. */
async function createPod(
  client: Partial<Client>,
  claims: Store<PersistentVolumeClaim>,
  spec: Partial<StatefulSet['spec']> = {},
): Promise<readonly string[]> {
  const reasons: string[] = [];
  const set = {
    metadata: { name: 'db', namespace: 'default', uid: 'set' },
    ...setOf({ volumeClaimTemplates: [CLAIM], ...spec }),
  };
  const control = new StatefulControl(
    {
      client: client as Client,
      report: (_about, { reason }) => void reasons.push(reason),
      claims: { store: claims } as unknown as Informer<PersistentVolumeClaim>,
      expectations: new Expectations<Pod>({
        store: createStore(),
        clock: systemClock,
        queue: createWorkQueue(),
      }),
      hasIndexLabel: true,
    },
    set,
  );
  const plan = { ordinal: 0, template: podTemplate(DB), revision: 'r' };
  await expect(control.create(plan, new AbortController().signal)).rejects.toThrow('data-db-0');
  return reasons;
}

test('a claim that exists, but is not seen yet, is no reason to create the pod', async () => {
  const created: string[] = [];
  const client: Partial<Client> = {
    create: async ({ resource }: { readonly resource: string }) => {
      if (resource === 'persistentvolumeclaims')
        throw alreadyExists(RESOURCE.persistentvolumeclaims, 'data-db-0');
      created.push(resource);
      return undefined as never;
    },
  };
  await createPod(client, createStore());
  expect(created).toEqual([]);
});

test('a claim whose owners cannot be written fails the update, not the creation of the pod', async () => {
  const client: Partial<Client> = {
    create: async (_resource, pod) => ({ ...pod, metadata: { ...pod.metadata, uid: 'pod' } }) as never,
    update: async () => {
      throw new Error('no');
    },
  };
  const claims = createStore<PersistentVolumeClaim>();
  claims.set({ metadata: { namespace: 'default', name: 'data-db-0' }, spec: { resources: {} } });
  const policy = { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Retain', whenDeleted: 'Delete' } };
  expect(await createPod(client, claims, policy)).toEqual(['FailedUpdate']);
});

test('a pass looks at a limited number of missing pods', () => {
  const set = { metadata: { name: 'db' }, ...setOf({ replicas: 2 ** 31 - 1, ordinals: { start: 5 } }) };
  const pods = ['db-5', 'db-2000000000'].map((name) => ({ metadata: { name }, spec: { containers: [] } }));
  const slots = slotsOf(set, pods);
  expect(slots).toHaveLength(502);
  expect(slots.slice(0, 2)).toEqual([
    { ordinal: 5, pod: pods[0] },
    { ordinal: 6, pod: undefined },
  ]);
});

const OTHER = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x', controller: true };
const SET_OWNER = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  name: 'db',
  uid: 'set',
  controller: true,
  blockOwnerDeletion: true,
};
const POD_OWNER = { ...SET_OWNER, apiVersion: 'v1', kind: 'Pod', name: 'db-0', uid: 'pod' };

/** Upstream's rules of the owners of claims, for a pod that is wanted and one that is scaled down. */
test.each([
  ['Retain', 'Retain', 1, [], undefined],
  ['Retain', 'Retain', 1, [SET_OWNER], []],
  ['Retain', 'Delete', 1, [], [SET_OWNER]],
  ['Retain', 'Delete', 0, [SET_OWNER], undefined],
  ['Delete', 'Retain', 1, [POD_OWNER], []],
  ['Delete', 'Retain', 0, [], [POD_OWNER]],
  ['Delete', 'Delete', 1, [], [SET_OWNER]],
  ['Delete', 'Delete', 0, [SET_OWNER], [POD_OWNER]],
  ['Delete', 'Delete', 0, [{ ...SET_OWNER, uid: 'earlier' }], undefined],
  ['Delete', 'Delete', 1, [OTHER], undefined],
  ['Delete', 'Delete', 1, [OTHER, SET_OWNER], [OTHER]],
  ['Retain', 'Delete', 1, [{ ...SET_OWNER, controller: false }], [SET_OWNER]],
])(
  'scaled %s, deleted %s, %d replicas: a claim of %j gets %j',
  (whenScaled, whenDeleted, replicas, owners, expected) => {
    const policy = { persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted } };
    const set = { metadata: { name: 'db', uid: 'set' }, ...setOf({ replicas, ...policy }) } as StatefulSet;
    const pod = { metadata: { name: 'db-0', uid: 'pod' }, spec: { containers: [] } } as Pod;
    const claim = {
      metadata: { name: 'data-db-0', ownerReferences: owners },
      spec: { resources: {} },
    } as PersistentVolumeClaim;
    expect(ownersOfClaim(claim, { set, pod })).toEqual(expected);
  },
);
