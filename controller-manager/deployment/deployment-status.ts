import type {
  Deployment,
  DeploymentCondition,
  DeploymentStatus,
  ReplicaSet,
} from '../../shared/api/types/apps-v1';
import { formatTime, parseTime } from '../../shared/meta/time';
import { findCondition, withCondition, withoutCondition } from '../pods/conditions';
import { desiredReplicas, maxUnavailable, sumOf } from './replica-counts';

const INT32_MAX = 2 ** 31 - 1;
const SECOND_MS = 1_000;
const PROGRESSING = 'Progressing';
const REPLICA_FAILURE = 'ReplicaFailure';

/** The reasons of the condition Progressing. */
const REASON = {
  created: 'NewReplicaSetCreated',
  createFailed: 'ReplicaSetCreateError',
  found: 'FoundNewReplicaSet',
  updated: 'ReplicaSetUpdated',
  complete: 'NewReplicaSetAvailable',
  timedOut: 'ProgressDeadlineExceeded',
  paused: 'DeploymentPaused',
  resumed: 'DeploymentResumed',
} as const;

export interface DeploymentSets {
  readonly current: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

export function allSets({ current, old }: DeploymentSets): readonly ReplicaSet[] {
  return current === undefined ? old : [...old, current];
}

export function hasProgressDeadline({ spec }: Deployment): boolean {
  return spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== INT32_MAX;
}

export interface StatusBasis {
  readonly nowMs: number;
  /** Whether the status counts the pods that are being deleted. */
  readonly reportsTerminating: boolean;
}

/** Computes the counts and the condition Available (upstream `calculateStatus`). */
export function deploymentStatusOf(
  deployment: Deployment,
  sets: DeploymentSets,
  { nowMs, reportsTerminating }: StatusBasis,
): DeploymentStatus {
  const all = allSets(sets);
  const available = sumOf(all, ({ status }) => status?.availableReplicas);
  const isEnough = available >= desiredReplicas(deployment) - maxUnavailable(deployment);
  const {
    collisionCount,
    conditions = [],
    terminatingReplicas: _before,
    ...others
  } = deployment.status ?? {};
  const terminating = reportsTerminating ? terminatingOf(all) : undefined;
  return {
    ...others,
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: sumOf(all, ({ status }) => status?.replicas),
    updatedReplicas: sets.current?.status?.replicas ?? 0,
    readyReplicas: sumOf(all, ({ status }) => status?.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sumOf(all, desiredReplicas) - available),
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions: withCondition(conditions, {
      type: 'Available',
      status: isEnough ? 'True' : 'False',
      reason: isEnough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
      message: `Deployment ${isEnough ? 'has' : 'does not have'} minimum availability.`,
      ...timesAt(nowMs),
    }),
  };
}

/** Returns how many pods are being deleted; undefined if a ReplicaSet with a status does not report it. ReplicaSets without a status have none. */
function terminatingOf(sets: readonly ReplicaSet[]): number | undefined {
  const isUnknown = sets.some(
    ({ status }) => (status?.observedGeneration ?? 0) > 0 && status?.terminatingReplicas === undefined,
  );
  return isUnknown ? undefined : sumOf(sets, ({ status }) => status?.terminatingReplicas);
}

/** Computes the status during a rollout: also the conditions Progressing and ReplicaFailure (upstream `syncRolloutStatus`). */
export function rolloutStatusOf(
  deployment: Deployment,
  sets: DeploymentSets,
  basis: StatusBasis,
): DeploymentStatus {
  const status = deploymentStatusOf(deployment, sets, basis);
  const { nowMs } = basis;
  const conditions = withReplicaFailure(progressAfter(deployment, sets, { status, nowMs }), sets);
  return { ...status, conditions };
}

function progressAfter(
  deployment: Deployment,
  { current }: DeploymentSets,
  { status, nowMs }: { readonly status: DeploymentStatus; readonly nowMs: number },
): readonly DeploymentCondition[] {
  const conditions = status.conditions ?? [];
  if (!hasProgressDeadline(deployment)) return withoutCondition(conditions, PROGRESSING);
  const progress = findCondition(conditions, PROGRESSING);
  if (status.replicas === status.updatedReplicas && progress?.reason === REASON.complete) return conditions;
  const what =
    current === undefined
      ? `Deployment ${JSON.stringify(deployment.metadata.name)}`
      : `ReplicaSet ${JSON.stringify(current.metadata.name)}`;
  if (isComplete(deployment, status)) {
    const message = `${what} has successfully progressed.`;
    return withCondition(conditions, progressing('True', { reason: REASON.complete, message, nowMs }));
  }
  if (isProgressing(deployment, status)) {
    const condition = progressing('True', {
      reason: REASON.updated,
      message: `${what} is progressing.`,
      nowMs,
    });
    const since = progress?.status === 'True' ? progress.lastTransitionTime : condition.lastTransitionTime;
    // Every bit of progress moves `lastUpdateTime`, from which the deadline counts.
    return [...withoutCondition(conditions, PROGRESSING), { ...condition, lastTransitionTime: since }];
  }
  if (hasTimedOut(deployment, progress, nowMs)) {
    const message = `${what} has timed out progressing.`;
    return withCondition(conditions, progressing('False', { reason: REASON.timedOut, message, nowMs }));
  }
  return conditions;
}

/** Shows the failure of a set, first that of the current one. */
function withReplicaFailure(
  conditions: readonly DeploymentCondition[],
  sets: DeploymentSets,
): readonly DeploymentCondition[] {
  const failures = [...(sets.current === undefined ? [] : [sets.current]), ...sets.old].flatMap(
    ({ status }) => findCondition(status?.conditions, REPLICA_FAILURE) ?? [],
  );
  const [failure] = failures;
  if (failure === undefined) return withoutCondition(conditions, REPLICA_FAILURE);
  return withCondition(conditions, { ...failure, lastUpdateTime: failure.lastTransitionTime });
}

/** Reports whether all pods are of the current template and available (upstream `DeploymentComplete`). */
export function isComplete(deployment: Deployment, status: DeploymentStatus | undefined): boolean {
  const desired = desiredReplicas(deployment);
  return (
    (status?.updatedReplicas ?? 0) === desired &&
    (status?.replicas ?? 0) === desired &&
    (status?.availableReplicas ?? 0) === desired &&
    Number(status?.observedGeneration ?? 0) >= Number(deployment.metadata.generation ?? 0)
  );
}

function isProgressing({ status: before }: Deployment, after: DeploymentStatus): boolean {
  const count = (status: DeploymentStatus | undefined) => ({
    updated: status?.updatedReplicas ?? 0,
    old: (status?.replicas ?? 0) - (status?.updatedReplicas ?? 0),
    ready: status?.readyReplicas ?? 0,
    available: status?.availableReplicas ?? 0,
  });
  const [was, is] = [count(before), count(after)];
  return is.updated > was.updated || is.old < was.old || is.ready > was.ready || is.available > was.available;
}

function hasTimedOut(
  deployment: Deployment,
  progress: DeploymentCondition | undefined,
  nowMs: number,
): boolean {
  if (progress === undefined || progress.reason === REASON.complete) return false;
  return progress.reason === REASON.timedOut || deadlineMs(deployment, progress) < nowMs;
}

function deadlineMs({ spec }: Deployment, { lastUpdateTime }: DeploymentCondition): number {
  return (parseTime(lastUpdateTime ?? '') ?? 0) + (spec.progressDeadlineSeconds ?? 0) * SECOND_MS;
}

/**
 * Returns how long it takes until the rollout may have missed its deadline, in milliseconds; undefined if there is nothing to wait for
 * (upstream `requeueStuckDeployment`).
 */
export function msUntilDeadline(deployment: Deployment, nowMs: number): number | undefined {
  const progress = findCondition(deployment.status?.conditions, PROGRESSING);
  if (!hasProgressDeadline(deployment) || progress === undefined) return undefined;
  if (isComplete(deployment, deployment.status) || progress.reason === REASON.timedOut) return undefined;
  if (progress.reason === REASON.complete) return undefined;
  // A second more, because times are cut to whole seconds.
  return Math.max(0, deadlineMs(deployment, progress) - nowMs) + SECOND_MS;
}

/** Returns the conditions of a Deployment that was paused or resumed; undefined if they need no change (`checkPausedConditions`). */
export function pausedConditions(
  deployment: Deployment,
  nowMs: number,
): readonly DeploymentCondition[] | undefined {
  if (!hasProgressDeadline(deployment)) return undefined;
  const { conditions = [] } = deployment.status ?? {};
  const progress = findCondition(conditions, PROGRESSING);
  if (progress?.reason === REASON.timedOut) return undefined;
  const isPaused = deployment.spec.paused === true;
  if (isPaused === (progress?.reason === REASON.paused)) return undefined;
  const [reason, message] = isPaused
    ? [REASON.paused, 'Deployment is paused']
    : [REASON.resumed, 'Deployment is resumed'];
  return withCondition(conditions, progressing('Unknown', { reason, message, nowMs }));
}

/** Returns the conditions after the current set was found or created, or could not be created. */
export function conditionsOfSet(
  deployment: Deployment,
  event: { readonly kind: 'created' | 'found' | 'createFailed'; readonly message: string },
  nowMs: number,
): readonly DeploymentCondition[] {
  const { conditions = [] } = deployment.status ?? {};
  if (!hasProgressDeadline(deployment)) return conditions;
  if (event.kind === 'found' && findCondition(conditions, PROGRESSING) !== undefined) return conditions;
  const status = event.kind === 'createFailed' ? 'False' : 'True';
  return withCondition(
    conditions,
    progressing(status, { reason: REASON[event.kind], message: event.message, nowMs }),
  );
}

function progressing(
  status: 'True' | 'False' | 'Unknown',
  { reason, message, nowMs }: { readonly reason: string; readonly message: string; readonly nowMs: number },
): DeploymentCondition {
  return { type: PROGRESSING, status, reason, message, ...timesAt(nowMs) };
}

function timesAt(nowMs: number): Pick<DeploymentCondition, 'lastUpdateTime' | 'lastTransitionTime'> {
  const time = formatTime(nowMs);
  return { lastUpdateTime: time, lastTransitionTime: time };
}
