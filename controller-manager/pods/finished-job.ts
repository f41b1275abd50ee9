import type { Job } from '../../shared/api/types/batch-v1';
import { parseTime } from '../../shared/meta/time';

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
