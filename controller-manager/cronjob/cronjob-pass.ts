import type { CronJob, CronJobStatus, Job } from '../../shared/api/types/batch-v1';
import type { ObjectReference } from '../../shared/api/types/core-v1';
import { hasReason } from '../../shared/client/status';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { parseSchedule } from '../../shared/meta/cron';
import { formatTime, parseTime } from '../../shared/meta/time';
import { zoneOffsets } from '../../shared/time-zone';
import { deepEqual } from '../../shared/object/clone';
import type { Writable } from '../../shared/object/values';
import { CRON_JOB_GUIDE, WORKLOAD_ANNOTATION } from '../../shared/workload-names';
import { PARENT } from '../pods/children';
import { isFinished } from '../pods/conditions';
import { isNamespaceTerminating, messageOf } from '../pods/pod-control';
import type { ReportEvent } from '../runtime/event-recorder';
import { isBeingDeleted, isOwnedBy, ownerReferenceTo } from '../runtime/owner';
import type { JobControl } from './job-control';
import type { ScheduledCronJob } from './missed-times';
import { dueTime, msUntilNext } from './missed-times';
import type { ZonedSchedule } from './next-time';

const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

export interface CronJobParts {
  readonly control: JobControl;
  readonly report: ReportEvent;
  /** Whether Jobs have an annotation with the time when they were due. */
  readonly isAnnotated: boolean;
}

export interface CronJobInput {
  readonly cronJob: CronJob;
  /** The Jobs that it owns. */
  readonly jobs: readonly Job[];
  readonly nowMs: number;
}

/** Returns the schedule of a CronJob in its time zone; what is wrong with it as text. */
export function scheduleOf({ spec }: CronJob): ZonedSchedule | string {
  const [, zone, rest] = /^(?:CRON_)?TZ=(\S*)\s+(.*)$/u.exec(spec.schedule) ?? [];
  const schedule = parseSchedule(rest ?? spec.schedule);
  if (typeof schedule === 'string') return schedule;
  try {
    return { schedule, offsetAt: zoneOffsets(zone ?? spec.timeZone) };
  } catch {
    return `provided bad location ${zone ?? spec.timeZone ?? ''}`;
  }
}

/** One pass over a CronJob: deletes old Jobs, and starts one that is due (upstream `syncCronJob`). */
export class CronJobPass {
  readonly #parts: CronJobParts;
  readonly #input: CronJobInput;
  #cronJob: CronJob;
  #status: Writable<CronJobStatus>;

  constructor(parts: CronJobParts, input: CronJobInput) {
    this.#parts = parts;
    this.#input = input;
    this.#cronJob = input.cronJob;
    this.#status = { ...input.cronJob.status };
  }

  /** Returns when to come back. Throws errors of the server, after the status says what was done until then. */
  async run(signal: AbortSignal): Promise<Requeue | undefined> {
    await this.#deleteHistory(signal);
    try {
      return await this.#sync(signal);
    } finally {
      if (!signal.aborted && !deepEqual(normalized(this.#cronJob.status), normalized(this.#status)))
        await this.#parts.control.writeStatus(this.#cronJob, this.#status, signal);
    }
  }

  get #active(): readonly ObjectReference[] {
    return this.#status.active ?? [];
  }

  #isActive({ metadata }: Job): boolean {
    return this.#active.some(({ uid }) => uid === metadata.uid);
  }

  #forget(uid: string | undefined): void {
    this.#status.active = this.#active.filter((each) => each.uid !== uid);
  }

  async #sync(signal: AbortSignal): Promise<Requeue | undefined> {
    await this.#followJobs(signal);
    if (isBeingDeleted(this.#cronJob)) return undefined;
    const { spec } = this.#cronJob;
    if (spec.timeZone !== undefined && !isZone(spec.timeZone)) {
      const message = `invalid timeZone: ${JSON.stringify(spec.timeZone)}: unknown time zone ${spec.timeZone}`;
      this.#report('Warning', 'UnknownTimeZone', message);
      return undefined;
    }
    if (spec.suspend === true) return undefined;
    if (spec.schedule.includes('TZ')) {
      const message = `CRON_TZ or TZ used in schedule ${JSON.stringify(spec.schedule)} is not officially supported, see ${CRON_JOB_GUIDE} for more details`;
      this.#report('Warning', 'UnsupportedSchedule', message);
    }
    const schedule = scheduleOf(this.#cronJob);
    if (typeof schedule === 'string') {
      const message = `unparseable schedule: ${JSON.stringify(spec.schedule)} : ${schedule}`;
      this.#report('Warning', 'UnparseableSchedule', message);
      return undefined;
    }
    // The status as it is known now has the last time that was handled.
    const at = (): ScheduledCronJob => ({
      ...schedule,
      cronJob: { ...this.#cronJob, status: this.#status },
      nowMs: this.#input.nowMs,
    });
    const due = dueTime(at());
    if (due === undefined) {
      const why = 'time difference between two schedules is less than 1 second';
      this.#report('Warning', 'InvalidSchedule', `invalid schedule: ${spec.schedule} : ${why}`);
      return undefined;
    }
    if (due.timeMs !== undefined) {
      if (due.isTooMany) {
        const message =
          'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
        this.#report('Warning', 'TooManyMissedTimes', message);
      }
      if (this.#mayStart(due.timeMs)) await this.#start(due.timeMs, schedule, signal);
    }
    return { requeueAfterMs: msUntilNext(at()) };
  }

  /** Brings the list of active Jobs in line with the Jobs. */
  async #followJobs(signal: AbortSignal): Promise<void> {
    for (const job of this.#input.jobs) {
      if (isFinished(job)) this.#noteFinished(job);
      else if (!this.#isActive(job)) {
        const fresh = await this.#parts.control.getCronJob(this.#cronJob, signal);
        if (fresh.status?.active?.some(({ uid }) => uid === job.metadata.uid) === true) {
          this.#cronJob = fresh;
          this.#status = { ...fresh.status };
          continue;
        }
        const message = `Saw a job that the controller did not create or forgot: ${job.metadata.name ?? ''}`;
        this.#report('Warning', 'UnexpectedJob', message);
      }
    }
    const known = new Set(this.#input.jobs.map(({ metadata }) => metadata.uid));
    for (const reference of this.#active) {
      // The informer may be late.
      if (known.has(reference.uid) || (await this.#parts.control.get(reference, signal)) !== undefined)
        continue;
      this.#report('Normal', 'MissingJob', `Active job went missing: ${reference.name ?? ''}`);
      this.#forget(reference.uid);
    }
  }

  #noteFinished(job: Job): void {
    const condition = endOf(job);
    if (this.#isActive(job)) {
      this.#forget(job.metadata.uid);
      const message = `Saw completed job: ${job.metadata.name ?? ''}, condition: ${condition}`;
      this.#report('Normal', 'SawCompletedJob', message);
    }
    const { completionTime } = job.status ?? {};
    if (condition !== COMPLETE || completionTime === undefined) return;
    const { lastSuccessfulTime } = this.#status;
    if (lastSuccessfulTime === undefined || millis(completionTime) > millis(lastSuccessfulTime))
      this.#status.lastSuccessfulTime = completionTime;
  }

  /** Reports whether a Job that was due at this time is started now. */
  #mayStart(dueMs: number): boolean {
    const { spec, metadata } = this.#cronJob;
    const { startingDeadlineSeconds } = spec;
    if (
      startingDeadlineSeconds !== undefined &&
      dueMs + Number(startingDeadlineSeconds) * SECOND_MS < this.#input.nowMs
    ) {
      const time = new Date(dueMs).toUTCString().replace('GMT', '+0000');
      this.#report('Warning', 'MissSchedule', `Missed scheduled time to start a job: ${time}`);
      return false;
    }
    const name = jobNameOf(metadata.name, dueMs);
    const { lastScheduleTime } = this.#status;
    const isHandled =
      this.#active.some((reference) => reference.name === name) ||
      (lastScheduleTime !== undefined && millis(lastScheduleTime) === dueMs);
    if (isHandled) return false;
    if (spec.concurrencyPolicy === 'Forbid' && this.#active.length > 0) {
      const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
      this.#report('Normal', 'JobAlreadyActive', message);
      return false;
    }
    return true;
  }

  /** Starts the Job. Its name has the time, so that it is not started twice. A Job of another client that has the name is left alone. */
  async #start(dueMs: number, schedule: ZonedSchedule, signal: AbortSignal): Promise<void> {
    const { metadata, spec } = this.#cronJob;
    const { control, isAnnotated } = this.#parts;
    if (spec.concurrencyPolicy === 'Replace') await this.#stopActive(signal);
    const { jobTemplate } = spec;
    const name = jobNameOf(metadata.name, dueMs);
    const { namespace } = metadata;
    const annotations = {
      ...jobTemplate.metadata.annotations,
      ...(isAnnotated
        ? {
            [WORKLOAD_ANNOTATION.scheduledTime]: zonedTime(
              dueMs,
              spec.timeZone === undefined ? 0 : schedule.offsetAt(dueMs),
            ),
          }
        : {}),
    };
    let job: Job;
    try {
      job = await control.create(
        {
          apiVersion: 'batch/v1',
          kind: 'Job',
          metadata: {
            name,
            ...(namespace === undefined ? {} : { namespace }),
            ...(jobTemplate.metadata.labels === undefined ? {} : { labels: jobTemplate.metadata.labels }),
            annotations,
            ownerReferences: [ownerReferenceTo(PARENT.cronJobs, this.#cronJob)],
          },
          spec: jobTemplate.spec,
        },
        signal,
      );
      this.#report('Normal', 'SuccessfulCreate', `Created job ${name}`);
    } catch (error) {
      if (signal.aborted || isNamespaceTerminating(error)) throw error;
      const existing = hasReason(error, 'AlreadyExists')
        ? await control.get({ ...(namespace === undefined ? {} : { namespace }), name }, signal)
        : undefined;
      if (existing === undefined) {
        this.#report('Warning', 'FailedCreate', `Error creating job: ${messageOf(error)}`);
        throw error;
      }
      // An earlier pass has started it, and could not write the status.
      if (!isOwnedBy(existing, this.#cronJob) || this.#isActive(existing)) return;
      job = existing;
    }
    this.#status.active = [...this.#active, referenceTo(job)];
    this.#status.lastScheduleTime = formatTime(dueMs);
  }

  async #stopActive(signal: AbortSignal): Promise<void> {
    for (const reference of this.#active) {
      const job = await this.#parts.control.get(reference, signal);
      if (job === undefined) {
        const why = `jobs.batch ${JSON.stringify(reference.name)} not found`;
        this.#report('Warning', 'FailedGet', `Get job: ${why}`);
        throw new Error(why);
      }
      if (!(await this.#delete(job, signal)))
        throw new Error(`could not replace job ${reference.namespace ?? ''}/${reference.name ?? ''}`);
    }
  }

  /** Deletes the oldest Jobs beyond the limits of the history. */
  async #deleteHistory(signal: AbortSignal): Promise<void> {
    const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = this.#cronJob.spec;
    for (const [end, limit] of [
      [COMPLETE, successfulJobsHistoryLimit],
      [FAILED, failedJobsHistoryLimit],
    ] as const) {
      if (limit === undefined) continue;
      const ended = this.#input.jobs.filter((job) => endOf(job) === end).sort(byStart);
      for (const job of ended.slice(0, Math.max(0, ended.length - limit)))
        if (!isBeingDeleted(job)) await this.#delete(job, signal);
    }
  }

  async #delete(job: Job, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#parts.control.delete(job, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#report('Warning', 'FailedDelete', `Deleted job: ${messageOf(error)}`);
      return false;
    }
    this.#forget(job.metadata.uid);
    this.#report('Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name ?? ''}`);
    return true;
  }

  #report(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#parts.report({ resource: PARENT.cronJobs, object: this.#cronJob }, { type, reason, message });
  }
}

const COMPLETE = 'Complete';
const FAILED = 'Failed';

function endOf({ status }: Job): string | undefined {
  return status?.conditions?.find(
    ({ type, status: value }) => (type === COMPLETE || type === FAILED) && value === 'True',
  )?.type;
}

function millis(time: string): number {
  return parseTime(time) ?? 0;
}

/** Jobs that never started come last. */
function byStart(a: Job, b: Job): number {
  const start = ({ status }: Job): number => parseTime(status?.startTime ?? '') ?? Infinity;
  const [startA, startB] = [start(a), start(b)];
  if (startA !== startB) return startA < startB ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

function jobNameOf(name = '', dueMs: number): string {
  return `${name}-${String(Math.floor(dueMs / MINUTE_MS))}`;
}

function referenceTo({ metadata }: Job): ObjectReference {
  const { namespace, name = '', uid = '', resourceVersion = '' } = metadata;
  const place = namespace === undefined ? {} : { namespace };
  return { kind: 'Job', ...place, name, uid, apiVersion: 'batch/v1', resourceVersion };
}

/** RFC 3339 with an offset in minutes: `2021-06-01T03:00:00+02:00`. */
function zonedTime(timeMs: number, offsetMs: number): string {
  const wall = formatTime(timeMs + offsetMs);
  if (offsetMs === 0) return wall;
  const minutes = Math.abs(Math.trunc(offsetMs / MINUTE_MS));
  const two = (value: number): string => String(value).padStart(2, '0');
  const sign = offsetMs < 0 ? '-' : '+';
  return `${wall.replace(/Z$/u, '')}${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function isZone(timeZone: string): boolean {
  try {
    zoneOffsets(timeZone);
    return true;
  } catch {
    return false;
  }
}

/** The server leaves an empty list out. */
function normalized({ active = [], ...rest }: CronJobStatus = {}): object {
  return { active, ...rest };
}
