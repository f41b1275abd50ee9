import type { Pod } from '../../shared/api/types/core-v1';
import { parseTime } from '../../shared/meta/time';
import { ANNOTATION } from '../../shared/names';
import { isActive, isReady, readySinceMs } from './pod-state';

/** What decides about the order in which pods are deleted, computed once for each pod. */
interface Ranked {
  readonly pod: Pod;
  readonly isAssigned: boolean;
  readonly phase: number;
  readonly ready: boolean;
  readonly cost: number;
  /** How many active pods of the same set are on the node. */
  readonly companions: number;
  readonly readyMs: number | undefined;
  readonly restarts: number;
  readonly createdMs: number | undefined;
}

const PHASE_ORDER = new Map([
  ['Pending', 0],
  ['Unknown', 1],
  ['Running', 2],
]);
const COST_MAX = 2 ** 31 - 1;
const NANOSECONDS = 1_000_000;

/**
 * Returns the pods to delete so that `count` fewer remain: first those that are worth least, by the rules of upstream's
 * `ActivePodsWithRanks`. `related` are the pods of all sets of the same owner, of which those on one node are thinned out first.
 */
export function podsToDelete(
  pods: readonly Pod[],
  related: readonly Pod[],
  { count, nowMs }: { readonly count: number; readonly nowMs: number },
): readonly Pod[] {
  if (count >= pods.length) return pods;
  const onNode = new Map<string, number>();
  for (const pod of related) {
    const node = pod.spec.nodeName ?? '';
    if (isActive(pod)) onNode.set(node, (onNode.get(node) ?? 0) + 1);
  }
  return pods
    .map((pod) => rank(pod, onNode))
    .sort((a, b) => compare(a, b, nowMs))
    .slice(0, count)
    .map(({ pod }) => pod);
}

function rank(pod: Pod, onNode: ReadonlyMap<string, number>): Ranked {
  const node = pod.spec.nodeName ?? '';
  return {
    pod,
    isAssigned: node !== '',
    phase: PHASE_ORDER.get(pod.status?.phase ?? '') ?? 0,
    ready: isReady(pod),
    cost: deletionCost(pod),
    companions: onNode.get(node) ?? 0,
    readyMs: readySinceMs(pod),
    restarts: Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)),
    createdMs: parseTime(pod.metadata.creationTimestamp ?? ''),
  };
}

/** A cost that is not a 32-bit integer counts as none. */
function deletionCost({ metadata }: Pod): number {
  const text = metadata.annotations?.[ANNOTATION.podDeletionCost] ?? '';
  if (!/^-?(?:0|[1-9]\d*)$/u.test(text)) return 0;
  const cost = Number(text);
  return Math.abs(cost) > COST_MAX ? 0 : cost;
}

function compare(a: Ranked, b: Ranked, nowMs: number): number {
  return (
    Number(a.isAssigned) - Number(b.isAssigned) ||
    a.phase - b.phase ||
    Number(a.ready) - Number(b.ready) ||
    a.cost - b.cost ||
    b.companions - a.companions ||
    (a.ready && b.ready ? compareAges(a, b, { of: 'readyMs', nowMs }) : 0) ||
    b.restarts - a.restarts ||
    compareAges(a, b, { of: 'createdMs', nowMs })
  );
}

/**
 * Younger first, on a logarithmic scale, so that pods of about the same age are chosen by their uids, which are random: otherwise the
 * oldest pods would stay for ever. An unknown time counts as the youngest.
 */
function compareAges(
  a: Ranked,
  b: Ranked,
  { of, nowMs }: { readonly of: 'readyMs' | 'createdMs'; readonly nowMs: number },
): number {
  const [timeA, timeB] = [a[of], b[of]];
  if (timeA === timeB) return 0;
  if (timeA === undefined || timeB === undefined) return timeA === undefined ? -1 : 1;
  const difference = logarithmicAge(nowMs - timeA) - logarithmicAge(nowMs - timeB);
  return difference === 0 && (a.pod.metadata.uid ?? '') < (b.pod.metadata.uid ?? '') ? -1 : difference || 1;
}

function logarithmicAge(ageMs: number): number {
  return ageMs > 0 ? Math.floor(Math.log2(ageMs * NANOSECONDS)) : -1;
}
