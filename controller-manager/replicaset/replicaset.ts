import { RESOURCE } from '../../shared/api/resource-names';
import type { ReplicaSet } from '../../shared/api/types/apps-v1';
import type { Pod, ReplicationController } from '../../shared/api/types/core-v1';
import type { Clock } from '../../shared/concurrency/clock';
import { forEachLimited } from '../../shared/concurrency/for-each-limited';
import type { Requeue } from '../../shared/concurrency/work-loop';
import type { Informer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import type { LabelSelector } from '../../shared/meta/labels';
import { labelSelectorFromMap, matchesLabels, toLabelSelector } from '../../shared/meta/labels';
import type { ResourceOf } from '../../shared/object/object';
import { candidatesOf, claimChildren, PARENT, selectorReader, watchChildren } from '../pods/children';
import { Expectations } from '../pods/expectations';
import {
  asError,
  isNamespaceTerminating,
  PodControl,
  podFromTemplate,
  startSlowly,
} from '../pods/pod-control';
import { isActive, isTerminating, msUntilAvailable } from '../pods/pod-state';
import type { ControllerContext } from '../runtime/controller';
import { hasFeature } from '../runtime/controller-options';
import { EventRecorder } from '../runtime/event-recorder';
import { runInformedLoop } from '../runtime/informed-loop';
import { writeStatus } from '../runtime/live-object';
import type { KindOfResource } from '../runtime/owner';
import { isBeingDeleted, ownerOf } from '../runtime/owner';
import { INDEX } from '../runtime/shared-informers';
import { podsToDelete } from '../pods/deletion-order';
import type { Replicated } from './replica-status';
import { isSameReplicaStatus, replicaStatusOf } from './replica-status';

/** Most pods that one pass creates or deletes; the next one continues when the informer shows them. */
const BURST_PODS = 500;
const DELETIONS_AT_ONCE_MAX = 64;
const WORKERS = 5;
const SECOND_MS = 1_000;

/** What ReplicaSets and ReplicationControllers do not share. */
interface ReplicatedKind<T extends Replicated> {
  readonly resource: ResourceOf<T> & KindOfResource;
  readonly component: string;
  readonly readSelector: (set: T) => LabelSelector;
  readonly workers: number | undefined;
  /** Whether the status counts the pods that are being deleted. */
  readonly reportsTerminating: boolean;
}

/** Keeps as many pods of every ReplicaSet as it asks for. */
export async function runReplicaSets(
  context: ControllerContext,
  signal: AbortSignal,
  clock: Clock = context.clock,
): Promise<void> {
  await runReplicated<ReplicaSet>(
    { ...context, clock },
    {
      resource: PARENT.replicaSets,
      component: 'replicaset-controller',
      readSelector: ({ spec }) => toLabelSelector(spec.selector),
      workers: context.options.concurrentReplicasetSyncs,
      reportsTerminating: hasFeature(context.options, 'DeploymentReplicaSetTerminatingReplicas'),
    },
    signal,
  );
}

/** Keeps as many pods of every ReplicationController as it asks for. */
export async function runReplicationControllers(
  context: ControllerContext,
  signal: AbortSignal,
  clock: Clock = context.clock,
): Promise<void> {
  await runReplicated<ReplicationController>(
    { ...context, clock },
    {
      resource: PARENT.replicationControllers,
      component: 'replication-controller',
      readSelector: ({ spec }) => labelSelectorFromMap(spec.selector ?? {}),
      workers: context.options.concurrentRcSyncs,
      reportsTerminating: false,
    },
    signal,
  );
}

type ClockedContext = ControllerContext & { readonly clock: Clock };

async function runReplicated<T extends Replicated>(
  context: ClockedContext,
  kind: ReplicatedKind<T>,
  signal: AbortSignal,
): Promise<void> {
  const { log, client, clock, informers, createQueue } = context;
  const queue = createQueue();
  const recorder = new EventRecorder({ client, clock, log });
  const sets = informers.of(kind.resource);
  const pods = informers.of(RESOURCE.pods);
  const expectations = new Expectations({ store: pods.store, clock, queue });
  const selectorOf = selectorReader(kind.readSelector);
  const enqueue = (set: T): void => queue.add(keyOfObject(set));
  sets.addHandler({ onAdd: enqueue, onUpdate: (_before, after) => enqueue(after), onDelete: enqueue });
  const onDelete = (pod: Pod): void => expectations.noteDeleted(pod);
  watchChildren({ children: pods, parents: sets, kind: kind.resource.kind, queue, selectorOf, onDelete });
  const control = new PodControl({ client, report: recorder.reporterFor(kind.component) });
  const controller = new ReplicaController<T>(context, {
    kind,
    sets,
    pods,
    expectations,
    selectorOf,
    control,
  });
  await runInformedLoop(
    {
      informers: [sets, pods],
      queue,
      workers: kind.workers ?? WORKERS,
      log,
      reconcile: async (key, stop) => controller.reconcile(key, stop),
      recorder,
    },
    signal,
  );
}

interface Parts<T extends Replicated> {
  readonly kind: ReplicatedKind<T>;
  readonly sets: Informer<T>;
  readonly pods: Informer<Pod>;
  readonly expectations: Expectations<Pod>;
  readonly selectorOf: (set: T) => LabelSelector;
  readonly control: PodControl;
}

class ReplicaController<T extends Replicated> {
  readonly #context: ClockedContext;
  readonly #parts: Parts<T>;

  constructor(context: ClockedContext, parts: Parts<T>) {
    this.#context = context;
    this.#parts = parts;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const { client, clock } = this.#context;
    const { kind, sets, pods, expectations, selectorOf } = this.#parts;
    const set = sets.store.get(key);
    if (set === undefined) {
      expectations.forget(key);
      return undefined;
    }
    const mayAct = expectations.areMet(key);
    const selector = selectorOf(set);
    const claimed = await claimChildren<T, Pod>(
      {
        client,
        parent: set,
        parentResource: kind.resource,
        childResource: RESOURCE.pods,
        matches: ({ metadata }) => matchesLabels(selector, metadata.labels),
      },
      candidatesOf(pods, set).filter(isActive),
      signal,
    );
    const terminating = kind.reportsTerminating
      ? pods.store
          .byIndex(INDEX.controller, set.metadata.uid ?? '')
          .filter((pod) => isTerminating(pod) && matchesLabels(selector, pod.metadata.labels)).length
      : undefined;
    const failure = mayAct && !isBeingDeleted(set) ? await this.#adjust(set, claimed, signal) : undefined;
    const nowMs = clock.now();
    const status = replicaStatusOf(set, { pods: claimed, terminating, failure, nowMs });
    if (!isSameReplicaStatus(set.status, status))
      await writeStatus<Replicated>(client, { resource: kind.resource, object: set, status }, signal);
    if (failure !== undefined) throw asError(failure);
    const { minReadySeconds = 0 } = set.spec;
    if (minReadySeconds === 0 || status.readyReplicas === status.availableReplicas) return undefined;
    const requeueAfterMs = msUntilAvailable(claimed, minReadySeconds, nowMs) ?? minReadySeconds * SECOND_MS;
    return { requeueAfterMs };
  }

  /** Creates or deletes pods; returns what failed. */
  async #adjust(set: T, claimed: readonly Pod[], signal: AbortSignal): Promise<unknown> {
    const surplus = claimed.length - (set.spec.replicas ?? 1);
    try {
      if (surplus < 0) return await this.#create(set, Math.min(-surplus, BURST_PODS), signal);
      if (surplus > 0) await this.#delete(set, claimed, Math.min(surplus, BURST_PODS), signal);
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      return error;
    }
  }

  async #create(set: T, count: number, signal: AbortSignal): Promise<unknown> {
    const { kind, expectations, control } = this.#parts;
    const { template } = set.spec;
    if (template === undefined) return undefined;
    const parent = { resource: kind.resource, object: set };
    const { error } = await startSlowly(count, async () => {
      try {
        const pod = await control.create(parent, podFromTemplate(template, parent), signal);
        expectations.created(keyOfObject(set), pod);
      } catch (failure) {
        if (!isNamespaceTerminating(failure)) throw failure;
      }
    });
    return error;
  }

  async #delete(set: T, claimed: readonly Pod[], count: number, signal: AbortSignal): Promise<void> {
    const { kind, expectations, control } = this.#parts;
    const key = keyOfObject(set);
    const chosen = podsToDelete(claimed, this.#related(set), { count, nowMs: this.#context.clock.now() });
    await forEachLimited(chosen, DELETIONS_AT_ONCE_MAX, async (pod) => {
      expectations.deletes(key, pod);
      try {
        await control.delete({ resource: kind.resource, object: set }, pod, signal);
      } catch (error) {
        expectations.keeps(key, pod);
        throw error;
      }
    });
  }

  /** Returns the pods of all sets of the same owner: those of a Deployment share nodes. */
  #related(set: T): readonly Pod[] {
    const { sets, pods } = this.#parts;
    const owner = ownerOf(set);
    const family = owner === undefined ? [set] : sets.store.byIndex(INDEX.controller, owner.uid);
    return family.flatMap(({ metadata }) => pods.store.byIndex(INDEX.controller, metadata.uid ?? ''));
  }
}
