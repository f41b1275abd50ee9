import { isDeepStrictEqual } from 'node:util';
import { RESOURCE } from '../../shared/api/resource-names';
import type { Node, Pod, PodStatus } from '../../shared/api/types/core-v1';
import type { Client } from '../../shared/client/client';
import { hasCode, hasReason } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import { systemClock } from '../../shared/concurrency/clock';
import type { Requeue } from '../../shared/concurrency/work-loop';
import type { WorkQueue } from '../../shared/concurrency/work-queue';
import { defined } from '../../shared/defined';
import type { Informer } from '../../shared/informer/informer';
import { createInformer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import type { Log } from '../../shared/log/log';
import { formatMicroTime, parseTime } from '../../shared/meta/time';
import { MEDIA_TYPE, NAMESPACE } from '../../shared/names';
import { EventRecorder } from '../runtime/event-recorder';
import { runInformedLoop } from '../runtime/informed-loop';
import type { NodeShape } from './node-object';
import { changedNodeStatus, changedTaints, isNodeReady, newNode } from './node-object';
import { PodAddresses, podCidrOf } from './pod-addresses';
import { delayOf } from './pod-rules';
import { advancePod, createdAtMs, hasEnded, stoppedPodStatus } from './pod-status';

export interface StandInNodesOptions {
  readonly client: Client;
  readonly log: Log;
  /** The names of the nodes, at most 1,000. */
  readonly names: readonly string[];
  readonly shape: NodeShape;
  readonly createQueue: (name: string) => WorkQueue;
  readonly clock?: Clock;
}

const WORKERS = 8;
/** The kubelet's `nodeLeaseDurationSeconds`, and the interval of its renewals. */
const LEASE_SECONDS = 40;
const LEASE_RENEWAL_MS = 10_000;
const SECOND_MS = 1_000;
/** How soon a pod without an address is looked at again. */
const NO_ADDRESS_RETRY_MS = 1_000;
const POD = { ...RESOURCE.pods, kind: 'Pod' };
const COMPONENT = 'orch-node';

/**
 * Nodes that run nothing: they keep their Leases and conditions, and report the pods that are bound to them by rules (`pod-rules.ts`). All state is in
 * the API, so that another process can continue at any moment.
 */
export class StandInNodes {
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly #options: StandInNodesOptions;
  readonly #client: Client;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #events: EventRecorder;
  readonly #addresses = new PodAddresses();
  /** By name. */
  readonly #indexes: ReadonlyMap<string, number>;
  /** Nodes that exist or existed: one that a user has deleted is not created again. */
  readonly #registered = new Set<string>();
  readonly #renewedAtMs = new Map<string, number>();

  constructor(options: StandInNodesOptions) {
    const { client, log, names, clock = systemClock } = options;
    this.#options = options;
    this.#client = client;
    this.#log = log;
    this.#clock = clock;
    this.#indexes = new Map(names.map((name, index) => [name, index]));
    this.#events = new EventRecorder({ client, clock, log });
    this.nodes = createInformer({ client, log, resource: RESOURCE.nodes });
    this.pods = createInformer({ client, log, resource: RESOURCE.pods });
  }

  /** Reports whether this process has the node. */
  has(nodeName: string): boolean {
    return this.#indexes.has(nodeName);
  }

  /** Works until the signal aborts; the nodes are then marked as not ready, unless the server does not answer. */
  async run(signal: AbortSignal): Promise<void> {
    const { createQueue } = this.#options;
    const nodeQueue = createQueue('nodes');
    const podQueue = createQueue('pods');
    this.nodes.addHandler({
      onAdd: ({ metadata }) => this.#enqueueNode(nodeQueue, metadata.name ?? ''),
      onUpdate: (_before, { metadata }) => this.#enqueueNode(nodeQueue, metadata.name ?? ''),
    });
    this.pods.addHandler({
      onAdd: (pod) => this.#enqueuePod(podQueue, pod),
      onUpdate: (_before, pod) => this.#enqueuePod(podQueue, pod),
      onDelete: ({ metadata }) => this.#addresses.release(metadata.uid ?? ''),
    });
    for (const name of this.#indexes.keys()) nodeQueue.add(name);
    const loop = { workers: WORKERS, log: this.#log };
    await Promise.all([
      this.#events.run(signal),
      runInformedLoop(
        {
          ...loop,
          informers: [this.nodes],
          queue: nodeQueue,
          reconcile: async (name, stop) => this.#reconcileNode(name, stop),
        },
        signal,
      ),
      runInformedLoop(
        {
          ...loop,
          informers: [this.pods],
          queue: podQueue,
          reconcile: async (key, stop) => this.#reconcilePod(key, stop),
        },
        signal,
      ),
    ]);
  }

  /** Marks the nodes as not ready, for the end of the process: no scheduler gives them pods that would wait for ever. */
  async markStopped(signal: AbortSignal): Promise<void> {
    const nodes = [...this.#indexes.keys()].flatMap((name) => this.nodes.store.get(name) ?? []);
    await Promise.all(nodes.map(async (node) => this.#keepStatus(node, false, signal)));
  }

  #enqueueNode(queue: WorkQueue, name: string): void {
    if (this.has(name)) queue.add(name);
  }

  #enqueuePod(queue: WorkQueue, pod: Pod): void {
    if (!this.has(pod.spec.nodeName ?? '')) return;
    const { uid = '' } = pod.metadata;
    const { podIP = '' } = pod.status ?? {};
    if (hasEnded(pod)) this.#addresses.release(uid);
    else if (podIP !== '' && pod.spec.hostNetwork !== true) this.#addresses.note(uid, podIP);
    queue.add(keyOfObject(pod));
  }

  async #reconcileNode(name: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const node = this.nodes.store.get(name);
    if (node === undefined) {
      if (this.#registered.has(name)) {
        this.#log.info(
          { node: name },
          'the node was deleted; it comes back when this program is started again',
        );
        return undefined;
      }
      await this.#register(name, signal);
      return undefined;
    }
    this.#registered.add(name);
    await this.#renewLease(node, signal);
    await this.#keepStatus(node, isNodeReady(node), signal);
    return { requeueAfterMs: LEASE_RENEWAL_MS };
  }

  async #register(name: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#client.create(RESOURCE.nodes, newNode(name, podCidrOf(this.#indexes.get(name) ?? 0)), {
        signal,
      });
      this.#log.info({ node: name }, 'stand-in node registered');
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) throw error;
    }
  }

  async #renewLease({ metadata }: Node, signal: AbortSignal): Promise<void> {
    const { name = '', uid = '' } = metadata;
    const nowMs = this.#clock.now();
    if (nowMs - (this.#renewedAtMs.get(name) ?? 0) < LEASE_RENEWAL_MS) return;
    const place = { namespace: NAMESPACE.nodeLease, name };
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
    const spec = {
      holderIdentity: name,
      leaseDurationSeconds: LEASE_SECONDS,
      renewTime: formatMicroTime(nowMs),
    };
    try {
      const patch = { contentType: MEDIA_TYPE.mergePatch, body: { metadata: { ownerReferences }, spec } };
      await this.#client.patch(RESOURCE.leases, place, patch, { signal });
    } catch (error) {
      if (!hasCode(error, 404)) throw error;
      await this.#client.create(
        RESOURCE.leases,
        { metadata: { ...place, ownerReferences }, spec },
        { signal },
      );
    }
    this.#renewedAtMs.set(name, nowMs);
  }

  async #keepStatus(node: Node, isReady: boolean, signal: AbortSignal): Promise<void> {
    const { name = '', uid } = node.metadata;
    const nowMs = this.#clock.now();
    const status = changedNodeStatus(node, this.#options.shape, { isReady, nowMs });
    let current = node;
    if (status !== undefined) {
      const patch = { contentType: MEDIA_TYPE.strategicMergePatch, body: { metadata: { uid }, status } };
      const options = { subresource: 'status', signal };
      current = await this.#client.patch(RESOURCE.nodes, { name }, patch, options);
    }
    const taints = changedTaints(current, isReady);
    if (taints === undefined) return;
    const { resourceVersion } = current.metadata;
    const patch = {
      contentType: MEDIA_TYPE.mergePatch,
      body: { metadata: { uid, resourceVersion }, spec: { taints } },
    };
    await this.#client.patch(RESOURCE.nodes, { name }, patch, { signal });
  }

  async #reconcilePod(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const pod = this.pods.store.get(key);
    const index = this.#indexes.get(pod?.spec.nodeName ?? '');
    if (pod === undefined || index === undefined) return undefined;
    const nowMs = this.#clock.now();
    if ((pod.metadata.deletionTimestamp ?? null) !== null) return this.#terminate(pod, nowMs, signal);
    if (hasEnded(pod)) return undefined;
    const isNew = (pod.status?.startTime ?? null) === null;
    const createAtMs = isNew ? createdAtMs(pod) : 0;
    if (createAtMs > nowMs) return { requeueAfterMs: createAtMs - nowMs };
    const hostIP = this.#options.shape.address;
    const podIP =
      pod.spec.hostNetwork === true ? hostIP : this.#addresses.take(pod.metadata.uid ?? '', index);
    if (podIP === undefined) return { requeueAfterMs: NO_ADDRESS_RETRY_MS };
    const { status, dueAtMs } = advancePod(pod, { hostIP, podIP }, nowMs);
    await this.#writeStatus(pod, status, signal);
    if (isNew) this.#explain(pod);
    return dueAtMs === undefined ? undefined : { requeueAfterMs: Math.max(dueAtMs - nowMs, 1) };
  }

  /** Deletes a pod after its delay, which its grace period limits. A pod that finalizers hold has ended, as with a kubelet. */
  async #terminate(pod: Pod, nowMs: number, signal: AbortSignal): Promise<Requeue | undefined> {
    const {
      namespace,
      name = '',
      uid,
      deletionTimestamp,
      deletionGracePeriodSeconds = 0,
      finalizers = [],
    } = pod.metadata;
    const graceMs = deletionGracePeriodSeconds * SECOND_MS;
    const requestedAtMs = (parseTime(deletionTimestamp ?? '') ?? nowMs) - graceMs;
    const atMs = requestedAtMs + Math.min(delayOf(pod, 'pod-delete'), graceMs);
    if (atMs > nowMs) return { requeueAfterMs: atMs - nowMs };
    if (finalizers.length > 0 && !hasEnded(pod)) {
      await this.#writeStatus(pod, stoppedPodStatus(pod, pod.status ?? {}, nowMs), signal);
      // The event of the write brings the deletion.
      return undefined;
    }
    // Only its finalizers hold it any more.
    if (finalizers.length > 0 && graceMs === 0) return undefined;
    try {
      const options = { gracePeriodSeconds: 0, preconditions: defined({ uid }) };
      await this.#client.delete(RESOURCE.pods, { namespace, name }, options, { signal });
    } catch (error) {
      if (!hasCode(error, 404, 409)) throw error;
    }
    return undefined;
  }

  /** Writes the fields of the status that differ. A pass on an old state, which would write the same with other times, is a conflict. */
  async #writeStatus(pod: Pod, status: PodStatus, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid, resourceVersion } = pod.metadata;
    const before: PodStatus = pod.status ?? {};
    const isChanged = (field: keyof PodStatus): boolean => !isDeepStrictEqual(before[field], status[field]);
    const fields = (Object.keys(status) as (keyof PodStatus)[]).filter(isChanged);
    if (fields.length === 0) return;
    const changes = Object.fromEntries(fields.map((field) => [field, valueToMerge(status, field)]));
    const patch = {
      contentType: MEDIA_TYPE.strategicMergePatch,
      body: { metadata: { uid, resourceVersion }, status: changes },
    };
    try {
      await this.#client.patch(RESOURCE.pods, { namespace, name }, patch, { subresource: 'status', signal });
    } catch (error) {
      // It has changed, is gone, or another pod has its name; an event says so.
      if (!hasCode(error, 404, 409)) throw error;
    }
  }

  /** `kubectl describe` shows it. */
  #explain(object: Pod): void {
    const { nodeName = '' } = object.spec;
    const message = `${nodeName} is a stand-in node: it reports this pod by rules and runs no containers`;
    const key = 'stand-in';
    this.#events.report({
      about: { resource: POD, object },
      type: 'Normal',
      reason: 'StandIn',
      message,
      component: COMPONENT,
      key,
    });
  }
}

/** Conditions are merged, so that what a new one does not have must be removed by name. */
function valueToMerge(status: PodStatus, field: keyof PodStatus): unknown {
  if (field !== 'conditions') return status[field];
  return status.conditions?.map((each) => ({ reason: null, message: null, ...each }));
}
