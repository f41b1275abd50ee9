import { LRUCache } from 'lru-cache';
import { RESOURCE } from '../../shared/api/resource-names';
import type { ControllerRevision, DaemonSet, DaemonSetStatus } from '../../shared/api/types/apps-v1';
import type { Node, Pod } from '../../shared/api/types/core-v1';
import type { Client } from '../../shared/client/client';
import type { Clock } from '../../shared/concurrency/clock';
import { forEachLimited } from '../../shared/concurrency/for-each-limited';
import type { WorkQueue } from '../../shared/concurrency/work-queue';
import type { Requeue } from '../../shared/concurrency/work-loop';
import type { Informer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import type { LabelSelector } from '../../shared/meta/labels';
import { matchesLabels, toLabelSelector } from '../../shared/meta/labels';
import { deepEqual } from '../../shared/object/clone';
import { WORKLOAD_LABEL } from '../../shared/workload-names';
import {
  candidatesOf,
  claimChildren,
  PARENT,
  patchMetadata,
  selectorReader,
  watchChildren,
} from '../pods/children';
import { Expectations } from '../pods/expectations';
import {
  asError,
  isNamespaceTerminating,
  PodControl,
  podFromTemplate,
  startSlowly,
} from '../pods/pod-control';
import { isAvailable, isReady } from '../pods/pod-state';
import { claimRevisions, createRevision, deleteRevision, remembers, renumber } from '../pods/revisions';
import type { ControllerContext } from '../runtime/controller';
import type { ReportEvent } from '../runtime/event-recorder';
import { EventRecorder } from '../runtime/event-recorder';
import { runInformedLoop } from '../runtime/informed-loop';
import { writeStatus } from '../runtime/live-object';
import { isBeingDeleted } from '../runtime/owner';
import { byAge, isUpdated, placementOn, templateFor } from './daemon-pods';
import type { DaemonPlan, DaemonView } from './daemon-plan';
import { groupByNode, planPods, planRollout } from './daemon-plan';

const WORKERS = 2;
const SECOND_MS = 1_000;
const RESOURCE_OF_PARENT = PARENT.daemonSets;
/** Most pods that one pass creates or deletes; the next one continues when the informer shows them. */
const BURST_PODS = 250;
const DELETIONS_AT_ONCE_MAX = 64;
/** A pod that fails is replaced at first at once, and then ever later, as upstream does. */
const FAILED_BACKOFF = { initialMs: 1_000, maxMs: 900_000, entriesMax: 10_000 };

/** Keeps a pod of every DaemonSet on each node that it is for. */
export async function runDaemonSets(
  context: ControllerContext,
  signal: AbortSignal,
  clock: Clock = context.clock,
): Promise<void> {
  const { log, client, options, createQueue } = context;
  const queue = createQueue();
  const recorder = new EventRecorder({ client, clock, log });
  const report = recorder.reporterFor('daemonset-controller');
  const controller = new DaemonController(context, { clock, report, queue });
  controller.watch();
  await runInformedLoop(
    {
      informers: controller.informers,
      queue,
      workers: options.concurrentDaemonsetSyncs ?? WORKERS,
      log,
      reconcile: async (key, stop) => controller.reconcile(key, stop),
      recorder,
    },
    signal,
  );
}

interface Parts {
  readonly clock: Clock;
  readonly report: ReportEvent;
  readonly queue: WorkQueue;
}

interface Backoff {
  readonly delayMs: number;
  readonly sinceMs: number;
}

class DaemonController {
  readonly #client: Client;
  readonly #parts: Parts;
  readonly #sets: Informer<DaemonSet>;
  readonly #pods: Informer<Pod>;
  readonly #nodes: Informer<Node>;
  readonly #revisions: Informer<ControllerRevision>;
  readonly #expectations: Expectations<Pod>;
  readonly #control: PodControl;
  readonly #selectorOf = selectorReader(({ spec }: DaemonSet) => toLabelSelector(spec.selector));
  /** By set, generation and node. */
  readonly #backoffs = new LRUCache<string, Backoff>({ max: FAILED_BACKOFF.entriesMax });

  constructor({ client, informers }: ControllerContext, parts: Parts) {
    this.#client = client;
    this.#parts = parts;
    this.#sets = informers.of(RESOURCE.daemonsets);
    this.#pods = informers.of(RESOURCE.pods);
    this.#nodes = informers.of(RESOURCE.nodes);
    this.#revisions = informers.of(RESOURCE.controllerrevisions);
    this.#expectations = new Expectations({ ...parts, store: this.#pods.store });
    this.#control = new PodControl({ client, report: parts.report });
  }

  get informers() {
    return [this.#sets, this.#pods, this.#nodes, this.#revisions];
  }

  /** Enqueues what changes. */
  watch(): void {
    const { queue } = this.#parts;
    const enqueue = (set: DaemonSet): void => queue.add(keyOfObject(set));
    this.#sets.addHandler({
      onAdd: enqueue,
      onUpdate: (_before, after) => enqueue(after),
      onDelete: enqueue,
    });
    watchChildren({
      children: this.#pods,
      parents: this.#sets,
      kind: RESOURCE_OF_PARENT.kind,
      queue,
      selectorOf: this.#selectorOf,
      onDelete: (pod) => this.#expectations.noteDeleted(pod),
    });
    const enqueueMoved = (before: Node | undefined, after: Node | undefined): void => {
      for (const set of this.#sets.store.list()) {
        const [was, is] = [before, after].map((node) => node && placementOn(node, set));
        if (was?.shouldRun !== is?.shouldRun || was?.mayStay !== is?.mayStay) enqueue(set);
      }
    };
    this.#nodes.addHandler({
      onAdd: (node) => enqueueMoved(undefined, node),
      onUpdate: (before, after) => {
        // Most updates are those of the status.
        const isSame =
          deepEqual(before.metadata.labels, after.metadata.labels) &&
          deepEqual(before.spec.taints, after.spec.taints);
        if (!isSame) enqueueMoved(before, after);
      },
      onDelete: (node) => enqueueMoved(node, undefined),
    });
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const set = this.#sets.store.get(key);
    if (set === undefined) this.#expectations.forget(key);
    // While the set is deleted its revisions go as well, so that nothing can be said about its pods.
    if (set === undefined || isBeingDeleted(set)) return undefined;
    const selector = this.#selectorOf(set);
    if (selector.length === 0) {
      const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
      this.#report(set, 'Warning', 'SelectingAll', message);
      return undefined;
    }
    const mayAct = this.#expectations.areMet(key);
    const pods = await this.#claimPods(set, selector, signal);
    const { current, old, collisionCount } = await this.#revise(set, { selector, pods }, signal);
    const view: DaemonView = {
      set,
      nodes: this.#nodes.store.list(),
      byNode: groupByNode(pods),
      hash: current.metadata.labels?.[WORKLOAD_LABEL.controllerRevision] ?? '',
      nowMs: this.#parts.clock.now(),
    };
    let failure: unknown;
    if (mayAct) {
      try {
        await this.#act(view, signal);
        await this.#deleteOld(set, { old, pods }, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        failure = error;
      }
    }
    const status = daemonStatusOf(view, { isObserved: mayAct, collisionCount });
    if (!isSameStatus(set.status, status))
      await writeStatus(this.#client, { resource: RESOURCE_OF_PARENT, object: set, status }, signal);
    if (failure !== undefined) throw asError(failure);
    const { minReadySeconds = 0 } = set.spec;
    if (minReadySeconds > 0 && status.numberReady !== (status.numberAvailable ?? 0))
      return { requeueAfterMs: minReadySeconds * SECOND_MS };
    return undefined;
  }

  async #claimPods(set: DaemonSet, selector: LabelSelector, signal: AbortSignal): Promise<readonly Pod[]> {
    return claimChildren<DaemonSet, Pod>(
      {
        client: this.#client,
        parent: set,
        parentResource: RESOURCE_OF_PARENT,
        childResource: RESOURCE.pods,
        matches: ({ metadata }) => matchesLabels(selector, metadata.labels),
      },
      candidatesOf(this.#pods, set),
      signal,
    );
  }

  /** Returns the revision of the current template, made or renumbered if needed, and the others (upstream `constructHistory`). */
  async #revise(
    set: DaemonSet,
    { selector, pods }: { readonly selector: LabelSelector; readonly pods: readonly Pod[] },
    signal: AbortSignal,
  ): Promise<{
    readonly current: ControllerRevision;
    readonly old: readonly ControllerRevision[];
    readonly collisionCount: number | undefined;
  }> {
    const parent = { client: this.#client, object: set, resource: RESOURCE_OF_PARENT };
    const known = await claimRevisions(parent, { revisions: this.#revisions, selector }, signal);
    const equal = known.filter((revision) => remembers(revision, set));
    const old = known.filter((revision) => !equal.includes(revision));
    const number = Number(old.at(-1)?.revision ?? 0) + 1;
    const kept = equal.at(-1);
    if (kept === undefined) {
      const made = await createRevision(
        parent,
        { number, hashLabel: WORKLOAD_LABEL.controllerRevision },
        signal,
      );
      return { current: made.revision, old, collisionCount: made.collisionCount };
    }
    const label = WORKLOAD_LABEL.controllerRevision;
    const hash = kept.metadata.labels?.[label];
    for (const double of equal.slice(0, -1)) {
      // Pods of a second revision with the same template belong to the first one.
      const labels = { [label]: hash };
      const patch = { client: this.#client, childResource: RESOURCE.pods, metadata: { labels } };
      for (const pod of pods)
        if (pod.metadata.labels?.[label] !== hash)
          await patchMetadata({ ...patch, child: pod }, [404], signal);
      await deleteRevision(this.#client, double, signal);
    }
    const current =
      Number(kept.revision) < number ? await renumber(this.#client, kept, number, signal) : kept;
    return { current, old, collisionCount: set.status?.collisionCount };
  }

  async #act(view: DaemonView, signal: AbortSignal): Promise<void> {
    const plan = planPods(view, (pod, node) => this.#mayReplace(view, pod, node));
    if (plan.create.length + plan.remove.length > 0) await this.#apply(view, plan, signal);
    else if (view.set.spec.updateStrategy.type === 'RollingUpdate')
      await this.#apply(view, planRollout(view), signal);
  }

  /** Reports that the pod has ended and whether it is replaced now. */
  #mayReplace({ set, nowMs }: DaemonView, { metadata, status }: Pod, node: string): boolean {
    const what = `daemon pod ${metadata.namespace ?? ''}/${metadata.name ?? ''} on node ${node}`;
    if (status?.phase === 'Succeeded') {
      this.#report(set, 'Normal', 'SucceededDaemonPod', `Found succeeded ${what}, will try to delete it`);
      return true;
    }
    const key = `${set.metadata.uid ?? ''}/${String(set.status?.observedGeneration ?? 0)}/${node}`;
    const { initialMs, maxMs } = FAILED_BACKOFF;
    const known = this.#backoffs.get(key);
    const recent = known !== undefined && nowMs - known.sinceMs <= 2 * maxMs ? known : undefined;
    if (recent !== undefined && nowMs - recent.sinceMs < recent.delayMs) {
      this.#parts.queue.addAfter(keyOfObject(set), recent.delayMs);
      return false;
    }
    const delayMs = recent === undefined ? initialMs : Math.min(2 * recent.delayMs, maxMs);
    this.#backoffs.set(key, { delayMs, sinceMs: nowMs });
    this.#report(set, 'Warning', 'FailedDaemonPod', `Found failed ${what}, will try to kill it`);
    return true;
  }

  async #apply(
    { set, hash }: DaemonView,
    { create, remove }: DaemonPlan,
    signal: AbortSignal,
  ): Promise<void> {
    const key = keyOfObject(set);
    const parent = { resource: RESOURCE_OF_PARENT, object: set };
    const { error } = await startSlowly(Math.min(create.length, BURST_PODS), async (index) => {
      const node = create[index];
      if (node === undefined) return;
      try {
        const template = templateFor(set, hash, node);
        const pod = await this.#control.create(parent, podFromTemplate(template, parent), signal);
        this.#expectations.created(key, pod);
      } catch (failure) {
        if (!isNamespaceTerminating(failure)) throw failure;
      }
    });
    await forEachLimited(remove.slice(0, BURST_PODS), DELETIONS_AT_ONCE_MAX, async (pod) => {
      this.#expectations.deletes(key, pod);
      try {
        await this.#control.delete(parent, pod, signal);
      } catch (failure) {
        this.#expectations.keeps(key, pod);
        throw failure;
      }
    });
    if (error !== undefined) throw asError(error);
  }

  async #deleteOld(
    { spec }: DaemonSet,
    { old, pods }: { readonly old: readonly ControllerRevision[]; readonly pods: readonly Pod[] },
    signal: AbortSignal,
  ): Promise<void> {
    const label = WORKLOAD_LABEL.controllerRevision;
    const live = new Set(pods.map(({ metadata }) => metadata.labels?.[label]));
    const surplus = Math.max(0, old.length - (spec.revisionHistoryLimit ?? old.length));
    const unused = old.filter(({ metadata }) => !live.has(metadata.labels?.[label]));
    for (const revision of unused.slice(0, surplus)) await deleteRevision(this.#client, revision, signal);
  }

  #report(object: DaemonSet, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#parts.report({ resource: RESOURCE_OF_PARENT, object }, { type, reason, message });
  }
}

/** Counts the nodes by what they have (upstream `updateDaemonSetStatus`). */
export function daemonStatusOf(
  { set, nodes, byNode, hash, nowMs }: DaemonView,
  {
    isObserved,
    collisionCount,
  }: { readonly isObserved: boolean; readonly collisionCount: number | undefined },
): DaemonSetStatus {
  const placed = nodes.map((node) => ({
    shouldRun: placementOn(node, set).shouldRun,
    pod: [...(byNode.get(node.metadata.name ?? '') ?? [])].sort(byAge)[0],
  }));
  const wanted = placed.filter(({ shouldRun }) => shouldRun);
  const pods = wanted.flatMap(({ pod }) => pod ?? []);
  const ready = pods.filter(isReady);
  const { minReadySeconds = 0 } = set.spec;
  const numberAvailable = ready.filter((pod) => isAvailable(pod, minReadySeconds, nowMs)).length;
  const { observedGeneration } = set.status ?? {};
  const generation = isObserved ? (set.metadata.generation ?? 0) : observedGeneration;
  return {
    ...set.status,
    desiredNumberScheduled: wanted.length,
    currentNumberScheduled: pods.length,
    numberMisscheduled: placed.filter(({ shouldRun, pod }) => !shouldRun && pod !== undefined).length,
    numberReady: ready.length,
    updatedNumberScheduled: pods.filter((pod) => isUpdated(pod, set, hash)).length,
    numberAvailable,
    numberUnavailable: wanted.length - numberAvailable,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
  };
}

const COUNTS = [
  'desiredNumberScheduled',
  'currentNumberScheduled',
  'numberMisscheduled',
  'numberReady',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'observedGeneration',
  'collisionCount',
] as const;

/** Reports whether a status says nothing new; absent counts are 0. */
function isSameStatus(current: DaemonSetStatus | undefined, next: DaemonSetStatus): boolean {
  return COUNTS.every((count) => Number(current?.[count] ?? 0) === Number(next[count] ?? 0));
}
