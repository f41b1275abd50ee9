import { RESOURCE } from '../../shared/api/resource-names';
import type { ControllerRevision, StatefulSet, StatefulSetStatus } from '../../shared/api/types/apps-v1';
import type { Pod } from '../../shared/api/types/core-v1';
import type { Clock } from '../../shared/concurrency/clock';
import type { Requeue } from '../../shared/concurrency/work-loop';
import type { Informer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import type { LabelSelector } from '../../shared/meta/labels';
import { matchesLabels, toLabelSelector } from '../../shared/meta/labels';
import { WORKLOAD_LABEL } from '../../shared/workload-names';
import { candidatesOf, claimChildren, PARENT, selectorReader, watchChildren } from '../pods/children';
import { Expectations } from '../pods/expectations';
import { asError } from '../pods/pod-control';
import { msUntilAvailable } from '../pods/pod-state';
import { claimRevisions, createRevision, deleteRevision, remembers, renumber } from '../pods/revisions';
import type { ControllerContext } from '../runtime/controller';
import { hasFeature } from '../runtime/controller-options';
import { EventRecorder } from '../runtime/event-recorder';
import { runInformedLoop } from '../runtime/informed-loop';
import { writeStatus } from '../runtime/live-object';
import { INDEX } from '../runtime/shared-informers';
import type { StatefulParts } from './stateful-control';
import { StatefulControl } from './stateful-control';
import { StatefulPass } from './stateful-pass';
import { hasClaimName, isMemberOf, revisionOfPod } from './stateful-pods';

const WORKERS = 5;
const SECOND_MS = 1_000;
const PARENT_RESOURCE = PARENT.statefulSets;

/** Keeps the pods of every StatefulSet, each with its name and its claims. */
export async function runStatefulSets(
  context: ControllerContext,
  signal: AbortSignal,
  clock: Clock = context.clock,
): Promise<void> {
  const { log, client, informers, options, createQueue } = context;
  const queue = createQueue();
  const recorder = new EventRecorder({ client, clock, log });
  const sets = informers.of(RESOURCE.statefulsets);
  const pods = informers.of(RESOURCE.pods);
  const claims = informers.of(RESOURCE.persistentvolumeclaims);
  const revisions = informers.of(RESOURCE.controllerrevisions);
  const expectations = new Expectations({ store: pods.store, clock, queue });
  const selectorOf = selectorReader(({ spec }: StatefulSet) => toLabelSelector(spec.selector));
  const enqueue = (set: StatefulSet): void => queue.add(keyOfObject(set));
  sets.addHandler({ onAdd: enqueue, onUpdate: (_before, after) => enqueue(after), onDelete: enqueue });
  const onDelete = (pod: Pod): void => expectations.noteDeleted(pod);
  const { kind } = PARENT_RESOURCE;
  watchChildren({ children: pods, parents: sets, kind, queue, selectorOf, onDelete });
  claims.addHandler({
    // A pod waits for the deletion of the claim of an earlier pod of its name.
    onDelete: ({ metadata: { namespace = '', name = '' } }) => {
      for (const set of sets.store.byIndex(INDEX.namespace, namespace))
        if (hasClaimName(set, name)) enqueue(set);
    },
  });
  const parts = {
    client,
    report: recorder.reporterFor('statefulset-controller'),
    claims,
    expectations,
    hasIndexLabel: hasFeature(options, 'PodIndexLabel'),
  };
  const controller = new StatefulController({
    ...parts,
    clock,
    pods,
    revisions,
    selectorOf,
    allowsMaxUnavailable: hasFeature(options, 'MaxUnavailableStatefulSet'),
  });
  const reconcile = async (key: string, stop: AbortSignal): Promise<Requeue | undefined> => {
    const set = sets.store.get(key);
    if (set === undefined) expectations.forget(key);
    // A pass on old pods would create or delete the wrong ones.
    return set === undefined || !expectations.areMet(key) ? undefined : controller.reconcile(set, stop);
  };
  await runInformedLoop(
    {
      informers: [sets, pods, claims, revisions],
      queue,
      workers: options.concurrentStatefulsetSyncs ?? WORKERS,
      log,
      reconcile,
      recorder,
    },
    signal,
  );
}

interface ControllerParts extends StatefulParts {
  readonly clock: Clock;
  readonly pods: Informer<Pod>;
  readonly revisions: Informer<ControllerRevision>;
  readonly selectorOf: (set: StatefulSet) => LabelSelector;
  readonly allowsMaxUnavailable: boolean;
}

/** The revisions of a set: in order, that of the pods which are not updated yet, and that of the template. */
interface Revisions {
  readonly known: readonly ControllerRevision[];
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
  readonly collisionCount: number | undefined;
}

class StatefulController {
  readonly #parts: ControllerParts;

  constructor(parts: ControllerParts) {
    this.#parts = parts;
  }

  async reconcile(set: StatefulSet, signal: AbortSignal): Promise<Requeue | undefined> {
    const { client, clock, pods, selectorOf, allowsMaxUnavailable } = this.#parts;
    const selector = selectorOf(set);
    const revisions = await this.#revise(set, selector, signal);
    const own = await claimChildren<StatefulSet, Pod>(
      {
        client,
        parent: set,
        parentResource: PARENT_RESOURCE,
        childResource: RESOURCE.pods,
        matches: (pod) => matchesLabels(selector, pod.metadata.labels) && isMemberOf(pod, set),
      },
      candidatesOf(pods, set),
      signal,
    );
    const nowMs = clock.now();
    const control = new StatefulControl(this.#parts, set);
    const input = { set, pods: own, ...revisions, nowMs, allowsMaxUnavailable };
    const { status, error } = await new StatefulPass(control, input).run(signal);
    if (!isSameStatus(set.status, status))
      await writeStatus(client, { resource: PARENT_RESOURCE, object: set, status }, signal);
    await this.#deleteOld(set, { ...revisions, pods: own }, signal);
    if (error !== undefined) throw asError(error);
    const { minReadySeconds = 0 } = set.spec;
    if (minReadySeconds === 0 || status.readyReplicas === status.availableReplicas) return undefined;
    return { requeueAfterMs: msUntilAvailable(own, minReadySeconds, nowMs) ?? minReadySeconds * SECOND_MS };
  }

  /** Returns the revisions; that of the template is made, or gets the highest number, if needed (`getStatefulSetRevisions`). */
  async #revise(set: StatefulSet, selector: LabelSelector, signal: AbortSignal): Promise<Revisions> {
    const { client, revisions } = this.#parts;
    const parent = { client, object: set, resource: PARENT_RESOURCE };
    const known = await claimRevisions(parent, { revisions, selector }, signal);
    const latest = known.at(-1);
    const number = Number(latest?.revision ?? 0) + 1;
    const equal = known.findLast((revision) => remembers(revision, set));
    let update: ControllerRevision;
    let { collisionCount } = set.status ?? {};
    if (equal === undefined) {
      const made = { number, hashLabel: WORKLOAD_LABEL.revisionHash };
      ({ revision: update, collisionCount } = await createRevision(parent, made, signal));
    } else update = equal === latest ? equal : await renumber(client, equal, number, signal);
    const current = known.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
    return { known, current, update, collisionCount };
  }

  /** Deletes revisions beyond the limit of the history of which no pod is. */
  async #deleteOld(
    { spec }: StatefulSet,
    { known, current, update, pods }: Revisions & { readonly pods: readonly Pod[] },
    signal: AbortSignal,
  ): Promise<void> {
    const { revisionHistoryLimit: limit = -1 } = spec;
    const live = new Set([current, update].map(({ metadata }) => metadata.name));
    for (const pod of pods) live.add(revisionOfPod(pod));
    const history = known.filter(({ metadata }) => !live.has(metadata.name));
    const surplus = limit < 0 ? 0 : Math.max(0, history.length - limit);
    for (const old of history.slice(0, surplus)) await deleteRevision(this.#parts.client, old, signal);
  }
}

const COUNTS = [
  'replicas',
  'readyReplicas',
  'availableReplicas',
  'currentReplicas',
  'updatedReplicas',
] as const;

/** Reports whether a status says nothing new; absent counts are 0 (upstream `inconsistentStatus`). */
function isSameStatus(current: StatefulSetStatus | undefined, next: StatefulSetStatus): boolean {
  return (
    Number(next.observedGeneration ?? 0) <= Number(current?.observedGeneration ?? 0) &&
    COUNTS.every((count) => (current?.[count] ?? 0) === (next[count] ?? 0)) &&
    current?.currentRevision === next.currentRevision &&
    current?.updateRevision === next.updateRevision
  );
}
