import { RESOURCE } from '../../shared/api/resource-names';
import type { Node, Pod, PodCondition } from '../../shared/api/types/core-v1';
import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import { systemClock } from '../../shared/concurrency/clock';
import { forEachLimited } from '../../shared/concurrency/for-each-limited';
import { pause } from '../../shared/concurrency/pause';
import { formatTime, parseTime } from '../../shared/meta/time';
import { MEDIA_TYPE, TAINT } from '../../shared/names';
import { messageOf } from '../pods/pod-control';
import { hasEnded } from '../pods/pod-state';
import type { ControllerContext } from '../runtime/controller';
import { hasFeature } from '../runtime/controller-options';
import { isBeingDeleted } from '../runtime/owner';

const DELETIONS_AT_ONCE_MAX = 16;
const DEFAULTS = {
  /** How often all pods are looked at. */
  periodMs: 20_000,
  /** How long a node is missing before its pods go. */
  quarantineMs: 40_000,
};
/** As kube-controller-manager. */
const TERMINATED_PODS_MAX = 12_500;

export interface PodGcTimes {
  readonly clock: Clock;
  readonly periodMs: number;
  readonly quarantineMs: number;
}

/**
 * Deletes pods that no node takes care of any more: those of nodes that are gone or out of service, those deleted before they had a node,
 * and the oldest of too many that have ended (upstream `PodGCController`).
 */
export async function runPodGc(
  context: ControllerContext,
  signal: AbortSignal,
  times: Partial<PodGcTimes> = {},
): Promise<void> {
  const { informers, log } = context;
  const { clock, periodMs, quarantineMs } = { clock: context.clock ?? systemClock, ...DEFAULTS, ...times };
  const [pods, nodes] = [informers.of(RESOURCE.pods), informers.of(RESOURCE.nodes)];
  /** By the name of a missing node: when it is looked for. */
  const quarantine = new Map<string, number>();
  const collect = async (): Promise<void> => {
    const all = pods.store.list();
    const gone = await findGoneNodes(
      context,
      { all, nodes: nodes.store, quarantine, nowMs: clock.now(), quarantineMs },
      signal,
    );
    const collector = new PodCollector(context, clock);
    await collector.deleteAll(
      surplusOf(all, context.options.terminatedPodGcThreshold ?? TERMINATED_PODS_MAX),
      signal,
    );
    if (hasFeature(context.options, 'NodeOutOfServiceVolumeDetach'))
      await collector.deleteAll(
        all.filter((pod) => isBeingDeleted(pod) && isOutOfService(nodes.store.get(pod.spec.nodeName ?? ''))),
        signal,
      );
    await collector.deleteAll(
      all.filter(({ spec }) => gone.has(spec.nodeName ?? '')),
      signal,
      { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' },
    );
    const unassigned = all.filter((pod) => isBeingDeleted(pod) && (pod.spec.nodeName ?? '') === '');
    await collector.deleteAll(unassigned, signal);
  };
  const work = async (): Promise<void> => {
    await Promise.all([pods.whenSynced(signal), nodes.whenSynced(signal)]);
    while (!signal.aborted) {
      try {
        await collect();
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ error: messageOf(error) }, 'failed to collect pods');
      }
      await pause(periodMs, signal);
    }
  };
  await Promise.all([
    pods.run(signal),
    nodes.run(signal),
    work().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    }),
  ]);
}

interface NodeSearch {
  readonly all: readonly Pod[];
  readonly nodes: { get(name: string): Node | undefined };
  readonly quarantine: Map<string, number>;
  readonly nowMs: number;
  readonly quarantineMs: number;
}

/** Returns the names of nodes that have pods and have been missing for long enough, which a read from the server confirms. */
async function findGoneNodes(
  { client, log }: ControllerContext,
  { all, nodes, quarantine, nowMs, quarantineMs }: NodeSearch,
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
    if (dueMs === undefined) quarantine.set(name, nowMs + quarantineMs);
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
  const isEvicted = ({ status }: Pod): boolean => status?.phase === 'Failed' && status.reason === 'Evicted';
  const age = ({ metadata }: Pod): number => parseTime(metadata.creationTimestamp ?? '') ?? 0;
  const named = (a: Pod, b: Pod): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
  return ended
    .sort((a, b) => Number(isEvicted(b)) - Number(isEvicted(a)) || age(a) - age(b) || named(a, b))
    .slice(0, ended.length - most);
}

/** Deletes pods at once. One that cannot be deleted is tried again in the next round. */
class PodCollector {
  readonly #context: ControllerContext;
  readonly #clock: Clock;

  constructor(context: ControllerContext, clock: Clock) {
    this.#context = context;
    this.#clock = clock;
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
    const { client, options, log } = this.#context;
    const { namespace, name = '', uid = '' } = pod.metadata;
    const time = formatTime(this.#clock.now());
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
