import type { Deployment, ReplicaSet } from '../../shared/api/types/apps-v1';
import { scaledValue } from '../../shared/object/values';
import { WORKLOAD_ANNOTATION } from '../../shared/workload-names';

const INT32_MAX = 2 ** 31 - 1;

export function desiredReplicas({ spec }: Deployment | ReplicaSet): number {
  return spec.replicas ?? 1;
}

/** Sums what the function returns for each set. */
export function sumOf(sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number {
  return sets.reduce((sum, set) => sum + (count(set) ?? 0), 0);
}

export function isRollingUpdate({ spec }: Deployment): boolean {
  return spec.strategy.type === 'RollingUpdate';
}

/** Returns how many pods there may be beyond the desired number. */
export function maxSurge(deployment: Deployment): number {
  return isRollingUpdate(deployment) ? fenceposts(deployment).surge : 0;
}

/** Returns how many of the desired pods may be unavailable. */
export function maxUnavailable(deployment: Deployment): number {
  const desired = desiredReplicas(deployment);
  if (!isRollingUpdate(deployment) || desired === 0) return 0;
  return Math.min(fenceposts(deployment).unavailable, desired);
}

/** Percentages may round both to 0; then one pod may be unavailable, or nothing would ever move (upstream `ResolveFenceposts`). */
function fenceposts(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { rollingUpdate } = deployment.spec.strategy;
  const desired = desiredReplicas(deployment);
  const surge = scaledValue(rollingUpdate?.maxSurge, desired, 'up');
  const unavailable = scaledValue(rollingUpdate?.maxUnavailable, desired, 'down');
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

/** Returns the size that the new set may have now (upstream `NewRSNewReplicas`). `total` is the size of all sets together. */
export function newSetReplicas(deployment: Deployment, total: number, current: number): number {
  const desired = desiredReplicas(deployment);
  if (!isRollingUpdate(deployment)) return desired;
  const surge = scaledValue(deployment.spec.strategy.rollingUpdate?.maxSurge, desired, 'up');
  const room = desired + surge - total;
  return room <= 0 ? current : current + Math.min(room, desired - current);
}

/** Returns the number in the annotation of a set; undefined if there is none. */
export function annotatedCount({ metadata }: ReplicaSet, annotation: string): number | undefined {
  const text = metadata.annotations?.[annotation] ?? '';
  const count = /^\d+$/u.test(text) ? Number(text) : Infinity;
  return count > INT32_MAX ? undefined : count;
}

/** Reports whether the new set is complete and available, so that no old set is needed (upstream `IsSaturated`). */
export function isSaturated(deployment: Deployment, set: ReplicaSet | undefined): boolean {
  const desired = desiredReplicas(deployment);
  return (
    set !== undefined &&
    desiredReplicas(set) === desired &&
    annotatedCount(set, WORKLOAD_ANNOTATION.desiredReplicas) === desired &&
    set.status?.availableReplicas === desired
  );
}

/**
 * Distributes the change of a Deployment's size over its active sets by their sizes, so that a rollout that is under way keeps its
 * proportions (upstream `scale`). Returns the new size of every set, by its name.
 */
export function proportionalSizes(
  deployment: Deployment,
  activeSets: readonly ReplicaSet[],
): ReadonlyMap<string, number> {
  const desired = desiredReplicas(deployment);
  const allowed = desired > 0 ? desired + maxSurge(deployment) : 0;
  const toAdd = allowed - sumOf(activeSets, desiredReplicas);
  const sets =
    toAdd === 0 ? activeSets : [...activeSets].sort(bySize(toAdd > 0 ? 'newer first' : 'older first'));
  const sizes = new Map<string, number>();
  let added = 0;
  for (const set of sets) {
    const share = toAdd === 0 ? 0 : shareOf(set, deployment, { toAdd, added });
    sizes.set(set.metadata.name ?? '', desiredReplicas(set) + share);
    added += share;
  }
  const [largest] = sets;
  if (largest !== undefined && toAdd !== 0) {
    const { name = '' } = largest.metadata;
    sizes.set(name, Math.max(0, (sizes.get(name) ?? 0) + toAdd - added));
  }
  return sizes;
}

function shareOf(
  set: ReplicaSet,
  deployment: Deployment,
  { toAdd, added }: { readonly toAdd: number; readonly added: number },
): number {
  if (desiredReplicas(set) === 0 || toAdd === added) return 0;
  const fraction = fractionOf(set, deployment);
  return toAdd > 0 ? Math.min(fraction, toAdd - added) : Math.max(fraction, toAdd - added);
}

/** The annotation has the size that the Deployment had when the set was last scaled. */
function fractionOf(set: ReplicaSet, deployment: Deployment): number {
  const size = desiredReplicas(set);
  if (desiredReplicas(deployment) === 0) return -size;
  const annotated = annotatedCount(set, WORKLOAD_ANNOTATION.maxReplicas) ?? 0;
  const before = annotated === 0 ? (deployment.status?.replicas ?? 0) : annotated;
  if (before === 0) return 0;
  const after = desiredReplicas(deployment) + maxSurge(deployment);
  return Math.round((size * after) / before) - size;
}

function bySize(order: 'newer first' | 'older first'): (a: ReplicaSet, b: ReplicaSet) => number {
  return (a, b) =>
    desiredReplicas(b) - desiredReplicas(a) ||
    (order === 'newer first' ? byCreation(b, a) : byCreation(a, b));
}

/** Orders from the oldest to the newest; equal ages by name. */
export function byCreation(a: ReplicaSet, b: ReplicaSet): number {
  const [timeA, timeB] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (timeA !== timeB) return timeA < timeB ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}
