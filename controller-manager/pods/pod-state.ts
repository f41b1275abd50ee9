import type { Pod, PodCondition } from '../../shared/api/types/core-v1';
import { parseTime } from '../../shared/meta/time';
import { isBeingDeleted } from '../runtime/owner';

const SECOND_MS = 1_000;

/** Reports whether the pod has neither ended nor is being deleted (upstream `IsPodActive`). */
export function isActive(pod: Pod): boolean {
  return !hasEnded(pod) && !isBeingDeleted(pod);
}

/** Reports whether the containers of the pod have ended for good (upstream `IsPodTerminal`). */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Reports whether the deletion of the pod has begun and its containers still run (upstream `IsPodTerminating`). */
export function isTerminating(pod: Pod): boolean {
  return !hasEnded(pod) && isBeingDeleted(pod);
}

/** Returns the condition `Ready` of the pod. */
export function readyCondition({ status }: Pod): PodCondition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

/** Reports whether the pod is ready. */
export function isReady(pod: Pod): boolean {
  return readyCondition(pod)?.status === 'True';
}

/** Returns when the pod became ready, in milliseconds since the epoch; undefined if it is not ready or the time is unknown. */
export function readySinceMs(pod: Pod): number | undefined {
  const condition = readyCondition(pod);
  return condition?.status === 'True' ? parseTime(condition.lastTransitionTime ?? '') : undefined;
}

/** Reports whether the pod has been ready for `minReadySeconds` (upstream `IsPodAvailable`). */
export function isAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  if (!isReady(pod)) return false;
  if (minReadySeconds === 0) return true;
  const sinceMs = readySinceMs(pod);
  return sinceMs !== undefined && sinceMs + minReadySeconds * SECOND_MS <= nowMs;
}

/**
 * Returns how long it takes until the next of these pods becomes available, in milliseconds; undefined if none is going to by time alone
 * (upstream `FindMinNextPodAvailabilityCheck`).
 */
export function msUntilAvailable(
  pods: readonly Pod[],
  minReadySeconds: number,
  nowMs: number,
): number | undefined {
  if (minReadySeconds <= 0) return undefined;
  const waits = pods
    .map(readySinceMs)
    .flatMap((sinceMs) => (sinceMs === undefined ? [] : [sinceMs + minReadySeconds * SECOND_MS - nowMs]))
    .filter((waitMs) => waitMs > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}
