import type { Job, JobStatus, UncountedTerminatedPods } from '../../../../shared/api/types/batch-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required } from '../../../../shared/errors/field-error';
import { parseTime } from '../../../../shared/meta/time';
import { deepEqual } from '../../../../shared/object/clone';
import { forEachItem, nonNegative } from '../rules/primitives';
import type { Intervals } from './job-policies';
import { parseIndexes } from './job-policies';

/**
 * Validates a change of the status of a Job, by the Job controller or by another one. A rule applies only to fields and conditions that the
 * change touches. Source: validateJobStatus, ValidateJobStatusUpdate and getStatusValidationOptions with the gate JobManagedBy, v1.36.
 */
export function validateJobStatusUpdate(next: Job, previous: Job): readonly FieldError[] {
  const { status = {} } = next;
  return [
    ...nonNegative(status.ready, 'status.ready'),
    ...nonNegative(status.terminating, 'status.terminating'),
    ...uncounted(next),
    ...conditions(next, previous),
    ...times(next, previous),
    ...finished(next, previous),
    ...indexes(next, previous),
    ...counters(next, previous),
  ];
}

const CONDITIONS = 'status.conditions';
const END = 'status.completionTime';

function uncounted({ status: { uncountedTerminatedPods: pods } = {} }: Pick<Job, 'status'>): FieldError[] {
  const seen = new Set<string>();
  return (['succeeded', 'failed'] as const).flatMap((list) =>
    forEachItem(pods?.[list] ?? [], `status.uncountedTerminatedPods.${list}`, (uid, at) => {
      if (uid === '') return [invalid(at, uid, 'must not be empty')];
      if (seen.has(uid)) return [duplicate(at, uid)];
      seen.add(uid);
      return [];
    }),
  );
}

/** Whether the Job has a condition of the type with this status. */
export function hasCondition(
  { status: { conditions: list = [] } = {} }: Pick<Job, 'status'>,
  wanted: string,
  value = 'True',
): boolean {
  return list.some(({ type, status }) => type === wanted && status === value);
}

function isFinished(job: Job): boolean {
  return hasCondition(job, 'Complete') || hasCondition(job, 'Failed');
}

/** Conditions that exclude or need each other, and those that stay once they are true. */
function conditions(next: Job, previous: Job): readonly FieldError[] {
  const is = (type: string): boolean => hasCondition(next, type);
  const was = (type: string): boolean => hasCondition(previous, type);
  const changes = (...types: readonly string[]): boolean => types.some((type) => is(type) !== was(type));
  const movesFailed = next.status?.failedIndexes !== previous.status?.failedIndexes;
  const wrong: readonly (readonly [isWrong: boolean, why: string])[] = [
    [
      changes('Complete', 'Failed') && is('Complete') && is('Failed'),
      'cannot set Complete=True and Failed=true conditions',
    ],
    [
      changes('Complete', 'FailureTarget') && is('Complete') && is('FailureTarget'),
      'cannot set Complete=True and FailureTarget=true conditions',
    ],
    [
      (changes('Failed') || movesFailed) && is('Failed') && !is('FailureTarget'),
      'cannot set Failed=True condition without the FailureTarget=true condition',
    ],
    [
      changes('Complete', 'SuccessCriteriaMet') && is('Complete') && !is('SuccessCriteriaMet'),
      'cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    ],
    ...successConditions(next, previous),
  ];
  return wrong.filter(([isWrong]) => isWrong).map(([, why]) => invalid(CONDITIONS, null, why));
}

function successConditions(next: Job, previous: Job): readonly (readonly [isWrong: boolean, why: string])[] {
  const is = (type: string): boolean => hasCondition(next, type);
  const was = (type: string): boolean => hasCondition(previous, type);
  return [
    [
      is('SuccessCriteriaMet') && is('Failed'),
      'cannot set SuccessCriteriaMet=True and Failed=true conditions',
    ],
    [
      is('SuccessCriteriaMet') && is('FailureTarget'),
      'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions',
    ],
    [
      next.spec.successPolicy !== undefined && !is('SuccessCriteriaMet') && is('Complete'),
      'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True',
    ],
    ...['Failed', 'Complete', 'FailureTarget'].map((type): readonly [boolean, string] => [
      was(type) && !is(type),
      `cannot disable the terminal ${type}=True condition`,
    ]),
    [
      was('SuccessCriteriaMet') && !is('SuccessCriteriaMet'),
      'cannot disable the SuccessCriteriaMet=True condition',
    ],
    [
      was('Complete') && !was('SuccessCriteriaMet') && is('SuccessCriteriaMet'),
      'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions',
    ],
  ];
}

/** The errors of the rows whose condition holds. */
function found(rows: readonly (readonly [isWrong: boolean, error: FieldError])[]): readonly FieldError[] {
  return rows.filter(([isWrong]) => isWrong).map(([, error]) => error);
}

function times(next: Job, previous: Job): readonly FieldError[] {
  const { startTime: start } = next.status ?? {};
  const { startTime: oldStart } = previous.status ?? {};
  const resumes = hasCondition(previous, 'Suspended') && hasCondition(next, 'Suspended', 'False');
  const isMoved = oldStart !== undefined && start !== oldStart && next.spec.suspend !== true;
  const why = 'field is immutable for unsuspended job once set';
  return [
    ...endTime(next, previous),
    ...(isMoved && !resumes ? [invalid('status.startTime', start, why)] : []),
  ];
}

function endTime(next: Job, previous: Job): readonly FieldError[] {
  const { startTime: start, completionTime: end } = next.status ?? {};
  const { startTime: oldStart, completionTime: oldEnd } = previous.status ?? {};
  const isComplete = hasCondition(next, 'Complete');
  const isMoved = end !== oldEnd;
  const isTouched = isMoved || isComplete !== hasCondition(previous, 'Complete');
  const hasEnd = end !== undefined;
  return found([
    [
      isTouched && hasEnd && !isComplete,
      invalid(END, end, 'cannot set completionTime when there is no Complete=True condition'),
    ],
    [isTouched && !hasEnd && isComplete, required(END, 'completionTime is required for Complete jobs')],
    [
      (isMoved || start !== oldStart) && isEarlier(end, start),
      invalid(END, end, 'must be equal to or after `startTime`'),
    ],
    [hasEnd && isMoved && oldEnd !== undefined, invalid(END, end, 'field is immutable')],
  ]);
}

function isEarlier(time: string | undefined, other: string | undefined): boolean {
  return (parseTime(time ?? '') ?? Infinity) < (parseTime(other ?? '') ?? -Infinity);
}

/** A Job that has ended has no pods any more. */
function finished(next: Job, previous: Job): readonly FieldError[] {
  if (!isFinished(next)) return [];
  const { status = {} } = next;
  const { status: old = {} } = previous;
  const hasEnded = !isFinished(previous);
  const touches = (name: keyof JobStatus): boolean => hasEnded || !deepEqual(status[name], old[name]);
  const { active, startTime, terminating, uncountedTerminatedPods: pods } = status;
  const neverRan = next.spec.suspend === true && next.spec.completions === 0;
  return found([
    [
      touches('active') && (active ?? 0) > 0,
      invalid('status.active', active, 'active>0 is invalid for finished job'),
    ],
    [
      touches('startTime') && !neverRan && startTime === undefined,
      required('status.startTime', 'startTime is required for finished job'),
    ],
    [
      touches('uncountedTerminatedPods') && podsIn(pods) > 0,
      invalid('status.uncountedTerminatedPods', pods, 'must be empty for finished job'),
    ],
    [
      touches('terminating') && (terminating ?? 0) > 0,
      invalid('status.terminating', terminating, 'terminating>0 is invalid for finished job'),
    ],
  ]);
}

function podsIn({ failed = [], succeeded = [] }: UncountedTerminatedPods = {}): number {
  return failed.length + succeeded.length;
}

function indexes(next: Job, previous: Job): readonly FieldError[] {
  const { completedIndexes: completed = '', failedIndexes: failed } = next.status ?? {};
  const { completedIndexes: oldCompleted = '', failedIndexes: oldFailed } = previous.status ?? {};
  const { completions = 0 } = next.spec;
  return [
    ...(completed === oldCompleted ? [] : completedIndexes(completed, next)),
    ...(failed === oldFailed || failed === undefined ? [] : failedIndexes(failed, next)),
    ...(completed === oldCompleted && failed === oldFailed
      ? []
      : overlapping(parseIndexes(completed, completions), parseIndexes(failed ?? '', completions))),
  ];
}

function completedIndexes(
  text: string,
  { spec: { completions, completionMode } }: Job,
): readonly FieldError[] {
  const path = 'status.completedIndexes';
  const parsed = completions === undefined ? [] : parseIndexes(text, completions);
  return found([
    [typeof parsed === 'string', invalid(path, text, `error parsing completedIndexes: ${String(parsed)}`)],
    [
      text !== '' && completionMode !== 'Indexed',
      invalid(path, text, 'cannot set non-empty completedIndexes when non-indexed completion mode'),
    ],
  ]);
}

const FAILED_INDEXES = 'status.failedIndexes';

function failedIndexes(
  text: string,
  { spec: { completions, backoffLimitPerIndex } }: Job,
): readonly FieldError[] {
  if (backoffLimitPerIndex === undefined) {
    const why = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    return [invalid(FAILED_INDEXES, text, why)];
  }
  const parsed = completions === undefined ? [] : parseIndexes(text, completions);
  if (typeof parsed !== 'string') return [];
  return [invalid(FAILED_INDEXES, text, `error parsing failedIndexes: ${parsed}`)];
}

function overlapping(completed: Intervals | string, failed: Intervals | string): readonly FieldError[] {
  if (typeof completed === 'string' || typeof failed === 'string') return [];
  const index = overlapOf(completed, failed);
  if (index === undefined) return [];
  const why = `failedIndexes and completedIndexes overlap at index: ${String(index)}`;
  return [invalid(FAILED_INDEXES, null, why)];
}

/** The first index that is in both, in one pass. */
function overlapOf(a: Intervals, b: Intervals): number | undefined {
  let [first, second] = [0, 0];
  for (;;) {
    const one = a[first];
    const other = b[second];
    if (one === undefined || other === undefined) return undefined;
    if (one[0] <= other[1] && other[0] <= one[1]) return Math.max(one[0], other[0]);
    if (one[0] <= other[0]) first += 1;
    else second += 1;
  }
}

function counters(next: Job, previous: Job): readonly FieldError[] {
  const { active = 0, failed = 0, succeeded = 0, ready } = next.status ?? {};
  const old = previous.status ?? {};
  const { completionMode, completions, parallelism } = next.spec;
  const isElastic = completionMode === 'Indexed' && completions === parallelism;
  const changesReady = ready !== old.ready || active !== (old.active ?? 0);
  return [
    ...(changesReady && ready !== undefined && ready > active
      ? [invalid('status.ready', ready, 'cannot set more ready pods than active')]
      : []),
    ...(failed < (old.failed ?? 0)
      ? [invalid('status.failed', failed, 'cannot decrease the failed counter')]
      : []),
    ...(succeeded < (old.succeeded ?? 0) && !isElastic
      ? [invalid('status.succeeded', succeeded, 'cannot decrease the succeeded counter')]
      : []),
  ];
}
