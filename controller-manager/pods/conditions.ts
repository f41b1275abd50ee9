import type { Job } from '../../shared/api/types/batch-v1';
import { parseTime } from '../../shared/meta/time';

/** What the conditions of all workload kinds have in common. */
export interface WorkloadCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime: string | null;
}

export function findCondition<C extends WorkloadCondition>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * Returns the conditions with this one, at their end as upstream does; the same list if status and reason are unchanged. A condition whose
 * status is unchanged keeps its `lastTransitionTime`.
 */
export function withCondition<C extends WorkloadCondition>(
  conditions: readonly C[],
  condition: C,
): readonly C[] {
  const current = findCondition(conditions, condition.type);
  if (current?.status === condition.status && current.reason === condition.reason) return conditions;
  const lastTransitionTime =
    current?.status === condition.status ? current.lastTransitionTime : condition.lastTransitionTime;
  return [...withoutCondition(conditions, condition.type), { ...condition, lastTransitionTime }];
}

export function withoutCondition<C extends WorkloadCondition>(
  conditions: readonly C[],
  type: string,
): readonly C[] {
  return conditions.filter((condition) => condition.type !== type);
}

/** Reports whether the Job has ended for good. */
export function isFinished({ status }: Job): boolean {
  return (
    status?.conditions?.some(
      (condition) =>
        (condition.type === 'Complete' || condition.type === 'Failed') && condition.status === 'True',
    ) === true
  );
}

/** Returns when the Job ended, in milliseconds since the epoch; undefined while it has not. */
export function finishedAtMs({ status }: Job): number | undefined {
  const condition = status?.conditions?.find(
    ({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True',
  );
  return parseTime(condition?.lastTransitionTime ?? '');
}
