import { setMaxListeners } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { RESOURCE } from '../../shared/api/resource-names';
import type { Node, Pod, PodSpec } from '../../shared/api/types/core-v1';
import type { Client } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import { systemClock } from '../../shared/concurrency/clock';
import { pause } from '../../shared/concurrency/pause';
import { Slices } from '../../shared/concurrency/slices';
import { defined } from '../../shared/defined';
import { createInformer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import type { Log } from '../../shared/log/log';
import { formatTime } from '../../shared/meta/time';
import { MEDIA_TYPE } from '../../shared/names';
import type { ApiObject } from '../../shared/object/object';
import { EventRecorder } from '../runtime/event-recorder';
import { ClusterState } from './cluster-state';
import type { Change } from './filters';
import { FILTERS } from './filters';
import { placePod } from './place-pod';
import { SchedulingQueue } from './scheduling-queue';
import type { GroupSources } from './topology-spread';
import { selectGroup, toSelectingPart } from './topology-spread';

/** The results of attempts, as upstream counts them. */
export type AttemptResult = 'scheduled' | 'unschedulable' | 'error';

export type AttemptObserver = (result: AttemptResult, durationMs: number) => void;

export interface SchedulerOptions {
  /** Acts as the scheduler. */
  readonly client: Client;
  readonly log: Log;
  /** Pods with this `schedulerName` are placed. */
  readonly schedulerName?: string;
  readonly queue?: SchedulingQueue;
  readonly clock?: Clock;
  /** In [0, 1). */
  readonly random?: () => number;
  /** Called after each attempt with its duration in milliseconds. */
  readonly observe?: AttemptObserver;
}

export const DEFAULT_SCHEDULER = 'default-scheduler';
/** Interval at which pods that an event has missed are looked for, in milliseconds. */
const SWEEP_MS = 30_000;
const POD = { ...RESOURCE.pods, kind: 'Pod' };

/** Places pods on nodes, one at a time, until the signal aborts. Resolves once all work has ended. */
export async function runScheduler(options: SchedulerOptions, signal: AbortSignal): Promise<void> {
  const scheduler = new Scheduler(options);
  await scheduler.run(signal);
}

class Scheduler {
  readonly #client: Client;
  readonly #log: Log;
  readonly #name: string;
  readonly #queue: SchedulingQueue;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #observe: AttemptObserver;
  readonly #events: EventRecorder;
  readonly #cluster = new ClusterState();
  readonly #pods;
  readonly #nodes;
  readonly #claims;
  readonly #volumes;
  readonly #services;
  readonly #replicationControllers;
  readonly #replicaSets;
  readonly #statefulSets;

  constructor({
    client,
    log,
    schedulerName = DEFAULT_SCHEDULER,
    queue = new SchedulingQueue(),
    clock = systemClock,
    random = Math.random,
    observe = () => undefined,
  }: SchedulerOptions) {
    this.#client = client;
    this.#log = log;
    this.#name = schedulerName;
    this.#queue = queue;
    this.#clock = clock;
    this.#random = random;
    this.#observe = observe;
    this.#events = new EventRecorder({ client, clock, log });
    // Pods that have ended take nothing from their node any more.
    const fieldSelector = 'status.phase!=Succeeded,status.phase!=Failed';
    this.#pods = createInformer({ client, log, resource: RESOURCE.pods, fieldSelector });
    this.#nodes = createInformer({ client, log, resource: RESOURCE.nodes });
    this.#claims = createInformer({ client, log, resource: RESOURCE.persistentvolumeclaims });
    this.#volumes = createInformer({ client, log, resource: RESOURCE.persistentvolumes });
    const indexers = { namespace: ({ metadata }: ApiObject) => [metadata.namespace ?? ''] };
    this.#services = createInformer({
      client,
      log,
      resource: RESOURCE.services,
      indexers,
      transform: toSelectingPart,
    });
    this.#replicationControllers = createInformer({
      client,
      log,
      resource: RESOURCE.replicationcontrollers,
      transform: toSelectingPart,
    });
    this.#replicaSets = createInformer({
      client,
      log,
      resource: RESOURCE.replicasets,
      transform: toSelectingPart,
    });
    this.#statefulSets = createInformer({
      client,
      log,
      resource: RESOURCE.statefulsets,
      transform: toSelectingPart,
    });
  }

  get #groupSources(): GroupSources {
    return {
      services: this.#services.store,
      replicationControllers: this.#replicationControllers.store,
      replicaSets: this.#replicaSets.store,
      statefulSets: this.#statefulSets.store,
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#follow();
    // Every informer waits on it.
    setMaxListeners(0, signal);
    const informers = [
      this.#nodes,
      this.#pods,
      this.#claims,
      this.#volumes,
      this.#services,
      this.#replicationControllers,
      this.#replicaSets,
      this.#statefulSets,
    ];
    await Promise.all([
      ...informers.map(async (informer) => informer.run(signal)),
      this.#events.run(signal),
      this.#sweep(signal),
      this.#work(informers, signal),
    ]);
    this.#queue.close();
  }

  #follow(): void {
    const note = (change: Change): void => this.#queue.noteChange(change);
    this.#nodes.addHandler({
      onAdd: (node) => {
        this.#cluster.setNode(node);
        note('node');
      },
      onUpdate: (before, after) => {
        this.#cluster.setNode(after);
        if (hasRelevantChange(before, after)) note('node');
      },
      onDelete: ({ metadata }) => {
        this.#cluster.removeNode(metadata.name ?? '');
        // Domains of spread constraints may have gone with it.
        note('node');
      },
    });
    this.#pods.addHandler({
      onAdd: (pod) => this.#setPod(pod),
      onUpdate: (before, after) => this.#setPod(after, before),
      onDelete: (pod) => {
        const key = keyOfObject(pod);
        this.#queue.delete(key);
        this.#cluster.removePod(key);
        if ((pod.spec.nodeName ?? '') !== '') note('pod-removed');
      },
    });
    const onVolume = { onAdd: () => note('volume'), onUpdate: () => note('volume') };
    this.#claims.addHandler(onVolume);
    this.#volumes.addHandler(onVolume);
  }

  #setPod(pod: Pod, before?: Pod): void {
    const key = keyOfObject(pod);
    if ((pod.spec.nodeName ?? '') !== '') {
      this.#queue.delete(key);
      this.#cluster.setPod(pod);
      const isPlaced = (before?.spec.nodeName ?? '') === '';
      if (isPlaced || !isDeepStrictEqual(before?.metadata.labels, pod.metadata.labels))
        this.#queue.noteChange('pod-placed');
      return;
    }
    if (!this.#isConcerned(pod)) {
      this.#queue.delete(key);
      return;
    }
    // A change of the status alone, such as this scheduler's own condition, does not make a pod fit.
    if (before !== undefined && isSameToScheduler(before, pod) && this.#isConcerned(before)) return;
    this.#enqueue(pod);
  }

  #enqueue(pod: Pod): void {
    // A full queue is filled again by the sweep.
    this.#queue.add(keyOfObject(pod), pod.spec.priority ?? 0);
  }

  #isConcerned({ metadata, spec }: Pod): boolean {
    const isLeaving = (metadata.deletionTimestamp ?? null) !== null;
    const isOurs = (spec.schedulerName ?? DEFAULT_SCHEDULER) === this.#name;
    return (spec.nodeName ?? '') === '' && !isLeaving && isOurs && !isGated(spec);
  }

  async #sweep(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(SWEEP_MS, signal);
      this.#queue.releaseStale();
      for (const pod of this.#pods.store.list())
        if (this.#isConcerned(pod) && !this.#queue.has(keyOfObject(pod))) this.#enqueue(pod);
    }
  }

  async #work(
    informers: readonly { whenSynced(signal: AbortSignal): Promise<void> }[],
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await Promise.all(informers.map(async (informer) => informer.whenSynced(signal)));
      for (;;) await this.#attempt(await this.#queue.take(signal), signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #attempt(key: string, signal: AbortSignal): Promise<void> {
    const pod = this.#pods.store.get(key);
    if (pod === undefined || !this.#isConcerned(pod) || this.#cluster.hasPod(key)) {
      this.#queue.delete(key);
      return;
    }
    const beganMs = performance.now();
    let result: AttemptResult;
    try {
      result = await this.#place(pod, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#log.warn({ pod: key, error }, 'failed to schedule a pod; retrying');
      this.#queue.retry(key);
      result = 'error';
    }
    this.#observe(result, performance.now() - beganMs);
  }

  async #place(pod: Pod, signal: AbortSignal): Promise<AttemptResult> {
    const key = keyOfObject(pod);
    const context = {
      cluster: this.#cluster,
      claimOf: (name: string) => this.#claims.store.get(name),
      volumeOf: (name: string) => this.#volumes.store.get(name),
      groupOf: (each: Pod) => selectGroup(each, this.#groupSources),
      slices: new Slices(),
    };
    const placement = await placePod(pod, context, this.#random);
    if (placement.nodeName === undefined) {
      const { message, refusedBy } = placement;
      this.#log.debug({ pod: key, reason: message }, 'pod is unschedulable');
      this.#report(pod, { type: 'Warning', reason: 'FailedScheduling', message });
      await this.#markUnschedulable(pod, message, signal);
      const filters = FILTERS.filter(({ name }) => refusedBy.has(name));
      this.#queue.putAside(key, new Set(filters.flatMap(({ wokenBy }) => wokenBy)));
      return 'unschedulable';
    }
    const { nodeName } = placement;
    await this.#bind(pod, nodeName, signal);
    return 'scheduled';
  }

  /** The pod counts on its node from now on, before an event says so: the next pod must not get the same place. */
  async #bind(pod: Pod, nodeName: string, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid } = pod.metadata;
    const key = keyOfObject(pod);
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: defined({ namespace, name, uid }),
      target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
    };
    this.#cluster.setPod(pod, nodeName);
    try {
      const place = { namespace, name, subresource: 'binding' };
      await this.#client.createSubresource(RESOURCE.pods, place, binding, { signal });
    } catch (error) {
      // An event may have come meanwhile, which counts more than the failed call.
      const current = this.#pods.store.get(key);
      if (current === undefined || (current.spec.nodeName ?? '') === '') this.#cluster.removePod(key);
      if (hasCode(error, 404)) {
        this.#queue.delete(key);
        return;
      }
      throw error;
    }
    this.#queue.delete(key);
    this.#log.debug({ pod: key, node: nodeName }, 'pod bound');
    const message = `Successfully assigned ${key} to ${nodeName}`;
    this.#report(pod, { type: 'Normal', reason: 'Scheduled', message });
  }

  #report(
    object: Pod,
    event: { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string },
  ): void {
    const key = `${event.reason}/${event.message}`;
    this.#events.report({ ...event, about: { resource: POD, object }, component: this.#name, key });
  }

  async #markUnschedulable(pod: Pod, message: string, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid } = pod.metadata;
    const before = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    const reason = 'Unschedulable';
    if (before?.status === 'False' && before.reason === reason && before.message === message) return;
    const lastTransitionTime =
      before?.status === 'False' ? before.lastTransitionTime : formatTime(this.#clock.now());
    const condition = { type: 'PodScheduled', status: 'False', lastTransitionTime, reason, message };
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    try {
      const patch = { contentType: MEDIA_TYPE.strategicMergePatch, body };
      await this.#client.patch(RESOURCE.pods, { namespace, name }, patch, { subresource: 'status', signal });
    } catch (error) {
      if (!hasCode(error, 404, 409)) throw error;
    }
  }
}

/** Reports whether a pod waits for its gates. */
function isGated({ schedulingGates = [] }: PodSpec): boolean {
  return schedulingGates.length > 0;
}

function isSameToScheduler(a: Pod, b: Pod): boolean {
  return isDeepStrictEqual([a.spec, a.metadata.labels], [b.spec, b.metadata.labels]);
}

/** Heartbeats change nothing that a filter looks at. */
function hasRelevantChange(before: Node, after: Node): boolean {
  const read = ({ metadata, spec, status }: Node): unknown => [
    metadata.labels,
    spec?.unschedulable,
    spec?.taints,
    status?.allocatable,
  ];
  return !isDeepStrictEqual(read(before), read(after));
}
