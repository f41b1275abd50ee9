import type { Job } from '../../shared/api/types/batch-v1';
import type { Pod } from '../../shared/api/types/core-v1';
import { parseTime } from '../../shared/meta/time';
import { WORKLOAD_ANNOTATION } from '../../shared/workload-names';
import { readyCondition } from '../pods/pod-state';
import { decideFailure } from './policies';

const FIRST_MS = 10_000;
const LONGEST_MS = 600_000;
const SECOND_MS = 1_000;
const INT32_MAX = 2 ** 31 - 1;

/** How often pods have failed since one succeeded, and when the last one did, in milliseconds since the epoch. */
export interface BackoffRecord {
  readonly failures: number;
  readonly lastMs: number;
}

export const NO_FAILURES: BackoffRecord = { failures: 0, lastMs: 0 };

/** Returns the record after these pods ended. */
export function recordAfter(
  before: BackoffRecord,
  { succeeded, failed }: { readonly succeeded: readonly Pod[]; readonly failed: readonly Pod[] },
): BackoffRecord {
  const failedMs = failed.map(finishedMs);
  if (succeeded.length === 0)
    return failed.length === 0
      ? before
      : { failures: before.failures + failed.length, lastMs: Math.max(...failedMs) };
  const lastSuccessMs = Math.max(...succeeded.map(finishedMs));
  const later = failedMs.filter((ms) => ms > lastSuccessMs);
  return later.length === 0 ? NO_FAILURES : { failures: later.length, lastMs: Math.max(...later) };
}

/** Returns how long no pod may be created, in milliseconds: 10 s after the first failure, doubled by each further one up to 10 minutes. */
export function remainingMs({ failures, lastMs }: BackoffRecord, nowMs: number): number {
  if (failures === 0) return 0;
  const waitMs = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 30), LONGEST_MS);
  return Math.max(0, waitMs - (nowMs - lastMs));
}

/** Returns the same for one index, given its last failed pod, whose annotations count the failures before it. */
export function remainingMsOfIndex(last: Pod | undefined, nowMs: number): number {
  if (last === undefined) return 0;
  return remainingMs({ failures: allIndexFailures(last) + 1, lastMs: finishedMs(last) }, nowMs);
}

/** Returns when the pod ended, as well as it is known, in milliseconds since the epoch (upstream `getFinishedTime`). */
export function finishedMs(pod: Pod): number {
  const { metadata, status } = pod;
  const ends = (status?.containerStatuses ?? []).map(({ state }) => msOf(state?.terminated?.finishedAt));
  if (ends.length > 0 && ends.every((ms) => ms !== undefined)) return Math.max(...ends);
  const ready = readyCondition(pod);
  const unreadyMs = ready?.status === 'False' ? msOf(ready.lastTransitionTime) : undefined;
  const deletedMs = msOf(metadata.deletionTimestamp);
  const graceMs = (metadata.deletionGracePeriodSeconds ?? 0) * SECOND_MS;
  return (
    unreadyMs ??
    (deletedMs === undefined ? undefined : deletedMs - graceMs) ??
    msOf(metadata.creationTimestamp) ??
    0
  );
}

function msOf(time: string | null | undefined): number | undefined {
  return parseTime(time ?? '');
}

/** Returns how often the index of the pod had failed before it was made. */
export function indexFailures(pod: Pod): number {
  return countIn(pod, WORKLOAD_ANNOTATION.indexFailures);
}

/** Returns the same, failures included that the policy of the Job ignores. */
export function allIndexFailures(pod: Pod): number {
  return indexFailures(pod) + countIn(pod, WORKLOAD_ANNOTATION.ignoredIndexFailures);
}

/** Returns the annotations that count the failures of an index for the pod that replaces this one. */
export function failureAnnotations(job: Job, replaced: Pod | undefined): Readonly<Record<string, string>> {
  const isCounted = replaced !== undefined && decideFailure(job, replaced).counts;
  const failures = replaced === undefined ? 0 : indexFailures(replaced) + Number(isCounted);
  const ignored = replaced === undefined ? 0 : allIndexFailures(replaced) + 1 - failures;
  return {
    [WORKLOAD_ANNOTATION.indexFailures]: String(failures),
    ...(ignored > 0 ? { [WORKLOAD_ANNOTATION.ignoredIndexFailures]: String(ignored) } : {}),
  };
}

function countIn({ metadata }: Pod, annotation: string): number {
  const text = metadata.annotations?.[annotation] ?? '';
  const count = /^\d+$/u.test(text) ? Number(text) : 0;
  return count > INT32_MAX ? 0 : count;
}
