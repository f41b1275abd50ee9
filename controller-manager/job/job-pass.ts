import type { Job, JobStatus } from '../../shared/api/types/batch-v1';
import type { Pod } from '../../shared/api/types/core-v1';
import type { Clock } from '../../shared/concurrency/clock';
import { forEachLimited } from '../../shared/concurrency/for-each-limited';
import { keyOfObject } from '../../shared/informer/store';
import { formatTime, parseTime } from '../../shared/meta/time';
import type { Writable } from '../../shared/object/values';
import { JOB_TRACKING_FINALIZER } from '../../shared/workload-names';
import { PARENT } from '../pods/children';
import type { Expectations } from '../pods/expectations';
import type { PodControl } from '../pods/pod-control';
import { asError, isNamespaceTerminating, startSlowly } from '../pods/pod-control';
import { isActive, isReady, isTerminating } from '../pods/pod-state';
import type { ReportEvent } from '../runtime/event-recorder';
import { isBeingDeleted } from '../runtime/owner';
import type { BackoffRecord } from './backoff';
import { indexFailures, recordAfter, remainingMs, remainingMsOfIndex } from './backoff';
import { IndexSet, indexesOf } from './indexes';
import type { JobEnd } from './job-conditions';
import { trueCondition, withJobCondition } from './job-conditions';
import {
  hasBackoffPerIndex,
  isIndexed,
  isSuspended,
  lastFailedByIndex,
  newJobPod,
  surplusPods,
  validIndexOf,
} from './job-pods';
import type { JobTracking, JobView } from './job-tracking';
import { decideFailure, hasFailed, metSuccessRule, replacesOnlyFailed } from './policies';

const SECOND_MS = 1_000;
/** Most pods that one pass creates or deletes. */
const PODS_AT_ONCE_MAX = 500;
const CALLS_AT_ONCE_MAX = 64;

export interface JobParts {
  readonly clock: Clock;
  readonly control: PodControl;
  readonly report: ReportEvent;
  readonly expectations: Expectations<Pod>;
  /** Counts ended pods and writes the status. */
  readonly tracking: JobTracking;
  /** From 1.31 on: pods are tracked by a finalizer, and a Job ends only once its pods have ended. */
  readonly isModern: boolean;
}

export interface JobInput {
  readonly job: Job;
  /** All pods of the Job. */
  readonly pods: readonly Pod[];
  /** Whether the informer shows all writes of earlier passes. */
  readonly mayAct: boolean;
  readonly record: BackoffRecord;
}

export interface JobOutcome {
  readonly record: BackoffRecord;
  readonly requeueAfterMs: number | undefined;
}

/** One pass over a Job (upstream `syncJob`). */
export class JobPass {
  readonly #parts: JobParts;
  readonly #input: JobInput;
  readonly #nowMs: number;
  #requeueAfterMs: number | undefined;

  constructor(parts: JobParts, input: JobInput) {
    this.#parts = parts;
    this.#input = input;
    this.#nowMs = parts.clock.now();
  }

  /** Throws errors of the server, after the status says what was done until then. */
  async run(signal: AbortSignal): Promise<JobOutcome> {
    const { job } = this.#input;
    const ended = this.#newlyEnded();
    const record = recordAfter(this.#input.record, ended);
    const view = this.#view(ended);
    const status: Writable<JobStatus> = { ...job.status };
    if (status.startTime === undefined && !isSuspended(job)) status.startTime = formatTime(this.#nowMs);
    let end = this.#endOf(view, status);
    let failure: unknown;
    if (end !== undefined) {
      const { deleted, error } = await this.#delete(view, view.active, signal);
      failure = error;
      // Pods that are still there, or that the informer does not show yet, may change the result.
      if (deleted !== view.active.length || !this.#input.mayAct) end = undefined;
    } else {
      const isManaged = this.#input.mayAct && !isBeingDeleted(job);
      if (isManaged) failure = await this.#manage(view, record, signal);
      end = this.#completion(view);
      if (end === undefined && isManaged) this.#noteSuspension(status);
    }
    await this.#parts.tracking.write({ view, status, end, nowMs: this.#nowMs }, signal);
    if (failure !== undefined) throw asError(failure);
    return { record, requeueAfterMs: this.#requeueAfterMs };
  }

  /** The pods that ended since the last pass and belong to the Job. */
  #newlyEnded(): { readonly succeeded: readonly Pod[]; readonly failed: readonly Pod[] } {
    const { job, pods } = this.#input;
    const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {};
    const own = this.#parts.tracking
      .uncounted(pods)
      .filter((pod) => !isIndexed(job) || validIndexOf(pod, job) !== undefined);
    const isNew = (pod: Pod, known: readonly string[]): boolean => !known.includes(pod.metadata.uid ?? '');
    return {
      succeeded: own.filter((pod) => pod.status?.phase === 'Succeeded' && isNew(pod, succeeded)),
      failed: own.filter((pod) => hasFailed(pod, job) && isNew(pod, failed)),
    };
  }

  #view(ended: { readonly succeeded: readonly Pod[]; readonly failed: readonly Pod[] }): JobView {
    const { job, pods } = this.#input;
    const { tracking } = this.#parts;
    const before = tracking.countedBefore(job);
    const active = pods.filter(isActive);
    const uncounted = tracking.uncounted(pods);
    const ofJob = uncounted.filter((pod) => validIndexOf(pod, job) !== undefined);
    const succeededIndexes = isIndexed(job)
      ? before.succeededIndexes.with(indexesOf(ofJob.filter((pod) => pod.status?.phase === 'Succeeded')))
      : IndexSet.EMPTY;
    const failedIndexes = hasBackoffPerIndex(job)
      ? before.failedIndexes.with(indexesOf(ofJob.filter((pod) => this.#failsIndex(pod))))
      : undefined;
    const counted = ended.failed.filter((pod) => decideFailure(job, pod).counts);
    return {
      job,
      pods,
      uncounted,
      active,
      succeeded: isIndexed(job) ? succeededIndexes.size : before.succeeded + ended.succeeded.length,
      failed: before.failed + counted.length,
      succeededIndexes,
      failedIndexes,
      lastFailed:
        failedIndexes === undefined
          ? new Map()
          : lastFailedByIndex(job, uncounted, { active, done: succeededIndexes.with(failedIndexes) }),
      counts: {
        active: active.length,
        ready: active.filter(isReady).length,
        terminating: pods.filter(isTerminating).length,
      },
    };
  }

  #failsIndex(pod: Pod): boolean {
    const { job } = this.#input;
    if (!hasFailed(pod, job)) return false;
    const { counts, action } = decideFailure(job, pod);
    return action === 'FailIndex' || (counts && indexFailures(pod) >= (job.spec.backoffLimitPerIndex ?? 0));
  }

  /** Returns why the Job ends now, other than by its completions; in upstream's order. */
  #endOf(view: JobView, { startTime }: JobStatus): JobEnd | undefined {
    const { job } = this.#input;
    const known = this.#knownEnd();
    if (known !== undefined) return known;
    const { backoffLimit = 6, activeDeadlineSeconds } = job.spec;
    if (view.failed > backoffLimit || this.#restartsExceed(backoffLimit))
      return this.#failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
    if (activeDeadlineSeconds !== undefined && !isSuspended(job)) {
      const startMs = parseTime(startTime ?? '') ?? this.#nowMs;
      const leftMs = startMs + Number(activeDeadlineSeconds) * SECOND_MS - this.#nowMs;
      if (leftMs <= 0)
        return this.#failure('DeadlineExceeded', 'Job was active longer than specified deadline');
      this.#comeBackAfter(leftMs);
    }
    return this.#endByIndexes(view);
  }

  /** The end that an earlier pass decided, or that the failure policy wants. */
  #knownEnd(): JobEnd | undefined {
    const { job, pods } = this.#input;
    const earlier = trueCondition(job, 'SuccessCriteriaMet') ?? trueCondition(job, 'FailureTarget');
    if (earlier !== undefined) {
      const { reason = '', message = '' } = earlier;
      return { type: earlier.type === 'FailureTarget' ? 'Failed' : 'SuccessCriteriaMet', reason, message };
    }
    for (const pod of pods.filter((each) => hasFailed(each, job))) {
      const { failsJob } = decideFailure(job, pod);
      if (failsJob !== undefined)
        return { type: 'FailureTarget', reason: 'PodFailurePolicy', message: failsJob };
    }
    return undefined;
  }

  #endByIndexes({ job, failedIndexes, succeededIndexes }: JobView): JobEnd | undefined {
    const { maxFailedIndexes = Infinity, completions = 0 } = job.spec;
    if (failedIndexes !== undefined && failedIndexes.size > maxFailedIndexes) {
      const message = 'Job has exceeded the specified maximal number of failed indexes';
      return this.#failure('MaxFailedIndexesExceeded', message);
    }
    const failed = failedIndexes?.size ?? 0;
    if (failed > 0 && failed + succeededIndexes.size >= completions)
      return this.#failure('FailedIndexes', 'Job has failed indexes');
    const rule = isIndexed(job) ? metSuccessRule(job, succeededIndexes) : undefined;
    return rule === undefined
      ? undefined
      : { type: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message: rule };
  }

  #failure(reason: string, message: string): JobEnd {
    return { type: this.#parts.isModern ? 'FailureTarget' : 'Failed', reason, message };
  }

  /** Containers that are restarted in place count as failures, too. */
  #restartsExceed(limit: number): boolean {
    const { job, pods } = this.#input;
    if (job.spec.template.spec.restartPolicy !== 'OnFailure') return false;
    const restarts = pods
      .filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending')
      .flatMap(({ status }) => [
        ...(status?.initContainerStatuses ?? []),
        ...(status?.containerStatuses ?? []),
      ])
      .reduce((sum, { restartCount }) => sum + restartCount, 0);
    return limit === 0 ? restarts > 0 : restarts >= limit;
  }

  #completion({ job, succeeded, counts }: JobView): JobEnd | undefined {
    const { completions } = job.spec;
    const isComplete = completions === undefined ? succeeded > 0 : succeeded >= completions;
    if (!isComplete || counts.active > 0) return undefined;
    if (!this.#parts.isModern) return { type: 'Complete' };
    const message = 'Reached expected number of succeeded pods';
    return { type: 'SuccessCriteriaMet', reason: 'CompletionsReached', message };
  }

  #noteSuspension(status: Writable<JobStatus>): void {
    const { job } = this.#input;
    const isOff = isSuspended(job);
    const [reason, message, event] = isOff
      ? ['JobSuspended', 'Job suspended', 'Suspended']
      : ['JobResumed', 'Job resumed', 'Resumed'];
    const before = status.conditions ?? [];
    const wanted = { type: 'Suspended', status: isOff ? 'True' : 'False', reason, message };
    const conditions = withJobCondition(before, wanted, this.#nowMs);
    if (conditions === before) return;
    status.conditions = conditions;
    // A resumed Job has its whole deadline again.
    if (!isOff) status.startTime = formatTime(this.#nowMs);
    this.#parts.report({ resource: PARENT.jobs, object: job }, { type: 'Normal', reason: event, message });
  }

  /** Creates or deletes pods; returns what failed (upstream `manageJob`). */
  async #manage(view: JobView, record: BackoffRecord, signal: AbortSignal): Promise<unknown> {
    const { job, active, counts } = view;
    if (isSuspended(job)) return (await this.#delete(view, active, signal, { isUncounted: true })).error;
    const wanted = this.#wantedActive(view);
    const atLeast = Math.max(0, active.length - wanted);
    const surplus = surplusPods(job, active, { atLeast, nowMs: this.#nowMs }).slice(0, PODS_AT_ONCE_MAX);
    if (surplus.length > 0) return (await this.#delete(view, surplus, signal, { isUncounted: true })).error;
    const terminating = replacesOnlyFailed(job) ? counts.terminating : 0;
    const missing = Math.min(wanted - terminating - active.length, PODS_AT_ONCE_MAX);
    return missing > 0 ? this.#create(view, { missing, record }, signal) : undefined;
  }

  #wantedActive({ job, active, succeeded }: JobView): number {
    const { completions, parallelism = 1 } = job.spec;
    if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
    return Math.max(0, Math.min(completions - succeeded, parallelism));
  }

  async #create(
    view: JobView,
    { missing, record }: { readonly missing: number; readonly record: BackoffRecord },
    signal: AbortSignal,
  ): Promise<unknown> {
    const { job, counts } = view;
    const { control, expectations, isModern } = this.#parts;
    if (!hasBackoffPerIndex(job)) {
      const waitMs = remainingMs(record, this.#nowMs);
      if (waitMs > 0) return this.#comeBackAfter(waitMs);
    }
    const indexes = isIndexed(job)
      ? this.#indexesToStart(view, missing)
      : Array.from({ length: missing }, () => undefined);
    const parent = { resource: PARENT.jobs, object: job };
    const { error } = await startSlowly(indexes.length, async (at) => {
      const index = indexes[at];
      const replaces = index === undefined ? undefined : view.lastFailed.get(index);
      try {
        const pod = await control.create(parent, newJobPod(job, { index, replaces, isModern }), signal);
        expectations.created(keyOfObject(job), pod);
        counts.active += 1;
      } catch (failure) {
        if (!isNamespaceTerminating(failure)) throw failure;
      }
    });
    return error;
  }

  /** The lowest indexes that have no pod and are not done, without those that wait after a failure. */
  #indexesToStart(
    { job, pods, active, succeededIndexes, failedIndexes, lastFailed }: JobView,
    count: number,
  ): readonly number[] {
    const taken = [
      indexesOf(active),
      ...(replacesOnlyFailed(job) ? [indexesOf(pods.filter(isTerminating))] : []),
      ...(failedIndexes === undefined ? [] : [failedIndexes]),
    ].reduce((all, each) => all.with(each), succeededIndexes);
    const pending = taken.missing(count, job.spec.completions ?? 0);
    const waits = pending.map((index) => remainingMsOfIndex(lastFailed.get(index), this.#nowMs));
    const waiting = waits.filter((ms) => ms > 0);
    if (waiting.length > 0) this.#comeBackAfter(Math.min(...waiting));
    return pending.filter((_index, at) => waits[at] === 0);
  }

  /** Deletes pods; those that the Job does not want are not counted either. */
  async #delete(
    { job, counts }: JobView,
    pods: readonly Pod[],
    signal: AbortSignal,
    { isUncounted = false }: { readonly isUncounted?: boolean } = {},
  ): Promise<{ readonly deleted: number; readonly error?: unknown }> {
    const { control, expectations, tracking } = this.#parts;
    const key = keyOfObject(job);
    let deleted = 0;
    try {
      await forEachLimited(pods, CALLS_AT_ONCE_MAX, async (pod) => {
        expectations.deletes(key, pod);
        try {
          if (isUncounted) await tracking.releasePod(pod, signal);
          await control.delete({ resource: PARENT.jobs, object: job }, pod, signal);
        } catch (error) {
          expectations.keeps(key, pod);
          throw error;
        }
        deleted += 1;
        counts.active -= 1;
        if (isReady(pod)) counts.ready -= 1;
        if (
          pod.spec.nodeName !== undefined ||
          pod.metadata.finalizers?.includes(JOB_TRACKING_FINALIZER) === true
        )
          counts.terminating += 1;
      });
    } catch (error) {
      return { deleted, error };
    }
    return { deleted };
  }

  #comeBackAfter(ms: number): undefined {
    this.#requeueAfterMs = Math.min(this.#requeueAfterMs ?? Infinity, ms);
    return undefined;
  }
}
