import { RESOURCE } from '../../shared/api/resource-names';
import type { Node, Pod, PodCondition } from '../../shared/api/types/core-v1';
import { hasCode } from '../../shared/client/status';
import { forEachLimited } from '../../shared/concurrency/for-each-limited';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { formatTime, parseTime } from '../../shared/meta/time';
import { MEDIA_TYPE, TAINT } from '../../shared/names';
import { messageOf } from '../pods/pod-control';
import { hasEnded } from '../pods/pod-state';
import type { ControllerContext } from '../runtime/controller';
import { hasFeature } from '../runtime/controller-options';
import { runInformedLoop } from '../runtime/informed-loop';
import { isBeingDeleted } from '../runtime/owner';

const DELETIONS_AT_ONCE_MAX = 16;
/** How often all pods are looked at. */
const PERIOD_MS = 20_000;
/** How long a node is missing before its pods go. */
const QUARANTINE_MS = 40_000;
/** As kube-controller-manager. */
const TERMINATED_PODS_MAX = 12_500;

/**
 * Deletes pods that no node takes care of any more: those of nodes that are gone or out of service, those deleted before they had a node,
 * and the oldest of too many that have ended (upstream `PodGCController`).
 */
export async function runPodGc(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const { informers, log, clock, options, createQueue } = context;
  const queue = createQueue();
  const [pods, nodes] = [informers.of(RESOURCE.pods), informers.of(RESOURCE.nodes)];
  /** By the name of a missing node: when it is looked for. */
  const quarantine = new Map<string, number>();
  const collector = new PodCollector(context);
  const reconcile = async (_key: string, stop: AbortSignal): Promise<Requeue> => {
    const all = pods.store.list();
    const gone = await findGoneNodes(
      context,
      { all, nodes: nodes.store, quarantine, nowMs: clock.now() },
      stop,
    );
    await collector.deleteAll(surplusOf(all, options.terminatedPodGcThreshold ?? TERMINATED_PODS_MAX), stop);
    if (hasFeature(options, 'NodeOutOfServiceVolumeDetach'))
      await collector.deleteAll(
        all.filter((pod) => isBeingDeleted(pod) && isOutOfService(nodes.store.get(pod.spec.nodeName ?? ''))),
        stop,
      );
    await collector.deleteAll(
      all.filter(({ spec }) => gone.has(spec.nodeName ?? '')),
      stop,
      { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' },
    );
    const unassigned = all.filter((pod) => isBeingDeleted(pod) && (pod.spec.nodeName ?? '') === '');
    await collector.deleteAll(unassigned, stop);
    return { requeueAfterMs: PERIOD_MS };
  };
  queue.add('all pods');
  await runInformedLoop({ informers: [pods, nodes], queue, workers: 1, log, reconcile }, signal);
}

interface NodeSearch {
  readonly all: readonly Pod[];
  readonly nodes: { get(name: string): Node | undefined };
  readonly quarantine: Map<string, number>;
  readonly nowMs: number;
}

/** Returns the names of nodes that have pods and have been missing for long enough, which a read from the server confirms. */
async function findGoneNodes(
  { client, log }: ControllerContext,
  { all, nodes, quarantine, nowMs }: NodeSearch,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const missing = new Set<string>();
  for (const { spec } of all) {
    const { nodeName = '' } = spec;
    if (nodeName !== '' && nodes.get(nodeName) === undefined) missing.add(nodeName);
  }
  for (const name of quarantine.keys()) if (!missing.has(name)) quarantine.delete(name);
  const gone = new Set<string>();
  for (const name of missing) {
    const dueMs = quarantine.get(name);
    if (dueMs === undefined) quarantine.set(name, nowMs + QUARANTINE_MS);
    if (dueMs === undefined || dueMs > nowMs) continue;
    try {
      await client.get(RESOURCE.nodes, { name }, { signal });
    } catch (error) {
      if (hasCode(error, 404)) gone.add(name);
      else log.warn({ node: name, error: messageOf(error) }, 'failed to look for a node');
    }
  }
  return gone;
}

function isOutOfService(node: Node | undefined): boolean {
  if (node === undefined) return false;
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status !== 'True' && node.spec.taints?.some(({ key }) => key === TAINT.outOfService) === true;
}

/** Returns the pods that have ended beyond so many: evicted ones first, then the oldest. */
function surplusOf(pods: readonly Pod[], most: number): readonly Pod[] {
  const ended = pods.filter(hasEnded);
  if (most <= 0 || ended.length <= most) return [];
  return ended
    .map((pod) => {
      const { metadata, status } = pod;
      const isEvicted = status?.phase === 'Failed' && status.reason === 'Evicted';
      const createdMs = parseTime(metadata.creationTimestamp ?? '') ?? 0;
      return { pod, rank: isEvicted ? 0 : 1, createdMs, name: metadata.name ?? '' };
    })
    .sort((a, b) => a.rank - b.rank || a.createdMs - b.createdMs || (a.name < b.name ? -1 : 1))
    .slice(0, ended.length - most)
    .map(({ pod }) => pod);
}

/** Deletes pods at once. One that cannot be deleted is tried again in the next round. */
class PodCollector {
  readonly #context: ControllerContext;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  async deleteAll(
    pods: readonly Pod[],
    signal: AbortSignal,
    why?: Pick<PodCondition, 'reason' | 'message'>,
  ): Promise<void> {
    await forEachLimited(pods, DELETIONS_AT_ONCE_MAX, async (pod) => {
      try {
        await this.#delete(pod, why, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        if (hasCode(error, 404, 409)) return;
        const { namespace, name } = pod.metadata;
        this.#context.log.warn({ namespace, pod: name, error: messageOf(error) }, 'failed to delete a pod');
      }
    });
  }

  /** A pod whose node is gone would stay in its phase for ever, so it fails first. */
  async #delete(
    pod: Pod,
    why: Pick<PodCondition, 'reason' | 'message'> | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, options, log, clock } = this.#context;
    const { namespace, name = '', uid = '' } = pod.metadata;
    const time = formatTime(clock.now());
    const condition = { type: 'DisruptionTarget', status: 'True', lastTransitionTime: time, ...why };
    if (!hasEnded(pod) && hasFeature(options, 'PodDisruptionConditions')) {
      const status = { phase: 'Failed', ...(why === undefined ? {} : { conditions: [condition] }) };
      await client.patch(
        RESOURCE.pods,
        { namespace, name },
        { contentType: MEDIA_TYPE.strategicMergePatch, body: { metadata: { uid }, status } },
        { subresource: 'status', signal },
      );
    }
    log.info({ namespace, pod: name }, 'deleting a pod that no node takes care of');
    const deletion = { gracePeriodSeconds: 0, preconditions: { uid } };
    await client.delete(RESOURCE.pods, { namespace, name }, deletion, { signal });
  }
}
