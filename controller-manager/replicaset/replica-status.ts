import type { ReplicaSet, ReplicaSetCondition } from '../../shared/api/types/apps-v1';
import type { Pod, ReplicationController } from '../../shared/api/types/core-v1';
import { formatTime } from '../../shared/meta/time';
import { deepEqual } from '../../shared/object/clone';
import { findCondition, withCondition, withoutCondition } from '../pods/conditions';
import { isAvailable, isReady } from '../pods/pod-state';
import { messageOf } from '../pods/pod-control';

/** An object that keeps a number of equal pods. */
export type Replicated = ReplicaSet | ReplicationController;

const REPLICA_FAILURE = 'ReplicaFailure';

/** The part of the status that ReplicaSets and ReplicationControllers share: all of it. */
export interface ReplicaStatus {
  readonly replicas: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  /** Absent without the feature gate `DeploymentReplicaSetTerminatingReplicas`, and for ReplicationControllers. */
  readonly terminatingReplicas?: number;
  readonly observedGeneration?: number | bigint;
  readonly conditions?: readonly ReplicaSetCondition[];
}

export interface ObservedReplicas {
  /** Active pods that belong to the set. */
  readonly pods: readonly Pod[];
  /** The number of its pods that are being deleted and still run; undefined if it is not reported. */
  readonly terminating: number | undefined;
  /** What kept the set from creating or deleting pods; undefined if nothing did. */
  readonly failure: unknown;
  readonly nowMs: number;
}

/** Computes the status of a set, as upstream's `calculateStatus`. */
export function replicaStatusOf(
  set: Replicated,
  { pods, terminating, failure, nowMs }: ObservedReplicas,
): ReplicaStatus {
  const { minReadySeconds = 0, replicas = 1, template } = set.spec;
  const templateLabels = Object.entries(template?.metadata.labels ?? {});
  const fullyLabeled = pods.filter(({ metadata }) =>
    templateLabels.every(([key, value]) => metadata.labels?.[key] === value),
  );
  const conditions = set.status?.conditions ?? [];
  const next = conditionsAfter(conditions, { failure, surplus: pods.length - replicas, nowMs });
  return {
    replicas: pods.length,
    fullyLabeledReplicas: fullyLabeled.length,
    readyReplicas: pods.filter(isReady).length,
    availableReplicas: pods.filter((pod) => isAvailable(pod, minReadySeconds, nowMs)).length,
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating }),
    observedGeneration: set.metadata.generation ?? 0,
    ...(next.length === 0 ? {} : { conditions: next }),
  };
}

function conditionsAfter(
  conditions: readonly ReplicaSetCondition[],
  {
    failure,
    surplus,
    nowMs,
  }: { readonly failure: unknown; readonly surplus: number; readonly nowMs: number },
): readonly ReplicaSetCondition[] {
  if (failure === undefined) return withoutCondition(conditions, REPLICA_FAILURE);
  if (findCondition(conditions, REPLICA_FAILURE) !== undefined) return conditions;
  return withCondition(conditions, {
    type: REPLICA_FAILURE,
    status: 'True',
    lastTransitionTime: formatTime(nowMs),
    reason: surplus < 0 ? 'FailedCreate' : 'FailedDelete',
    message: messageOf(failure),
  });
}

/** Reports whether a status says the same as the current one; absent counts are 0, except that of terminating pods. */
export function isSameReplicaStatus(current: ReplicaStatus | undefined, next: ReplicaStatus): boolean {
  return (
    current?.terminatingReplicas === next.terminatingReplicas &&
    COUNTS.every((count) => Number(current?.[count] ?? 0) === Number(next[count] ?? 0)) &&
    deepEqual(current?.conditions ?? [], next.conditions ?? [])
  );
}

const COUNTS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
] as const;
