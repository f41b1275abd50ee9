import type { Job, JobCondition } from '../../shared/api/types/batch-v1';
import { formatTime } from '../../shared/meta/time';
import { findCondition } from '../pods/conditions';

export type JobEndType = 'Failed' | 'FailureTarget' | 'Complete' | 'SuccessCriteriaMet';

/** Why a Job ends. */
export interface JobEnd {
  readonly type: JobEndType;
  readonly reason?: string;
  readonly message?: string;
}

/** Returns the condition if the Job has it with the status True. */
export function trueCondition({ status }: Job, type: JobEndType): JobCondition | undefined {
  const condition = findCondition(status?.conditions, type);
  return condition?.status === 'True' ? condition : undefined;
}

export function isSuccess({ type }: JobEnd): boolean {
  return type === 'Complete' || type === 'SuccessCriteriaMet';
}

/**
 * Returns the conditions with this one; the same list if nothing changes. A condition that is not there and would be False is left out
 * (upstream `ensureJobConditionStatus`).
 */
export function withJobCondition(
  conditions: readonly JobCondition[],
  wanted: Pick<JobCondition, 'type' | 'status' | 'reason' | 'message'>,
  nowMs: number,
): readonly JobCondition[] {
  const current = findCondition(conditions, wanted.type);
  if (current === undefined && wanted.status === 'False') return conditions;
  const isSame =
    current?.status === wanted.status &&
    (current.reason ?? '') === (wanted.reason ?? '') &&
    (current.message ?? '') === (wanted.message ?? '');
  if (isSame) return conditions;
  const time = formatTime(nowMs);
  const next: JobCondition = { ...wanted, lastProbeTime: time, lastTransitionTime: time };
  return current === undefined
    ? [...conditions, next]
    : conditions.map((condition) => (condition === current ? next : condition));
}
