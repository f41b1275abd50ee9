import { RESOURCE } from '../../shared/api/resource-names';
import type { Job, JobStatus } from '../../shared/api/types/batch-v1';
import type { Pod } from '../../shared/api/types/core-v1';
import type { Client } from '../../shared/client/client';
import { forEachLimited } from '../../shared/concurrency/for-each-limited';
import { formatTime } from '../../shared/meta/time';
import { deepEqual } from '../../shared/object/clone';
import type { Writable } from '../../shared/object/values';
import { JOB_TRACKING_FINALIZER } from '../../shared/workload-names';
import { asError } from '../pods/pod-control';
import { PARENT, patchMetadata, removedFinalizer } from '../pods/children';
import type { ReportEvent } from '../runtime/event-recorder';
import { isBeingDeleted } from '../runtime/owner';
import { completionIndexOf, IndexSet } from './indexes';
import type { JobEnd } from './job-conditions';
import { isSuccess, withJobCondition } from './job-conditions';
import { isIndexed, validIndexOf } from './job-pods';
import { decideFailure, hasFailed } from './policies';

const CALLS_AT_ONCE_MAX = 64;
/** Most pods whose uids a status has before they are counted: the status must not become too large. */
const UNCOUNTED_MAX = 500;

/** What one pass finds and decides; the counts change with the pods that it creates and deletes. */
export interface JobView {
  readonly job: Job;
  readonly pods: readonly Pod[];
  /** Pods that no status has counted yet. */
  readonly uncounted: readonly Pod[];
  readonly active: readonly Pod[];
  readonly succeeded: number;
  readonly failed: number;
  readonly succeededIndexes: IndexSet;
  readonly failedIndexes: IndexSet | undefined;
  readonly lastFailed: ReadonlyMap<number, Pod>;
  readonly counts: { active: number; ready: number; terminating: number };
}

export interface CountedBefore {
  readonly succeeded: number;
  readonly failed: number;
  readonly succeededIndexes: IndexSet;
  readonly failedIndexes: IndexSet;
}

export interface StatusInput {
  readonly view: JobView;
  /** The status so far: start time and conditions of this pass. */
  readonly status: Writable<JobStatus>;
  readonly end: JobEnd | undefined;
  readonly nowMs: number;
}

/** How ended pods get into the status of a Job. */
export interface JobTracking {
  /** Returns the pods that no status has counted. */
  uncounted(pods: readonly Pod[]): readonly Pod[];
  /** Returns what the status has counted of pods that need not exist any more. */
  countedBefore(job: Job): CountedBefore;
  /** Lets a pod go without counting it. */
  releasePod(pod: Pod, signal: AbortSignal): Promise<void>;
  /** Counts pods, and writes the status if it says something new. */
  write(input: StatusInput, signal: AbortSignal): Promise<void>;
}

export interface TrackingParts {
  readonly client: Client;
  readonly report: ReportEvent;
  /** Called with the Job after each write of its status. */
  readonly onWrite: (job: Job) => void;
}

/** Counts the pods that exist, as v1.21 does: a deleted pod is forgotten. */
export function createPlainTracking(parts: TrackingParts): JobTracking {
  return {
    uncounted: (pods) => pods,
    countedBefore: () => NOTHING_COUNTED,
    releasePod: async () => Promise.resolve(),
    write: async ({ view, status, end, nowMs }, signal) => {
      const { job, active, counts, succeeded, failed, succeededIndexes } = view;
      // The active pods of a Job that fails are deleted, and have failed by that.
      const cut = end !== undefined && !isSuccess(end) ? active.length : 0;
      const next: Writable<JobStatus> = {
        ...status,
        active: counts.active,
        succeeded,
        failed: failed + cut,
        ...(isIndexed(job) ? { completedIndexes: succeededIndexes.toString() } : {}),
      };
      if (end !== undefined) finish(next, end, nowMs);
      await writeStatus(parts, job, next, signal);
      if (end !== undefined) reportEnd(parts, { ...job, status: next }, end);
    },
  };
}

const NOTHING_COUNTED: CountedBefore = {
  succeeded: 0,
  failed: 0,
  succeededIndexes: IndexSet.EMPTY,
  failedIndexes: IndexSet.EMPTY,
};

/**
 * Counts each pod exactly once, also one that is deleted, as upstream since v1.26: pods have a finalizer until their uid is in the status,
 * and the uid leaves the status once the finalizer is gone. `released` remembers pods whose finalizer is gone though the informer still
 * shows it.
 */
export function createFinalizerTracking(parts: TrackingParts, released: Set<string>): JobTracking {
  const isTracked = ({ metadata }: Pod): boolean =>
    metadata.finalizers?.includes(JOB_TRACKING_FINALIZER) === true && !released.has(metadata.uid ?? '');
  const release = async (pod: Pod, signal: AbortSignal): Promise<void> => {
    if (!isTracked(pod)) return;
    const metadata = removedFinalizer(JOB_TRACKING_FINALIZER);
    await patchMetadata(
      { client: parts.client, childResource: RESOURCE.pods, child: pod, metadata },
      [404],
      signal,
    );
    released.add(pod.metadata.uid ?? '');
  };
  return {
    uncounted: (pods) => pods.filter(isTracked),
    countedBefore: ({ spec, status }) => {
      const { completions = 0 } = spec;
      const { succeeded = 0, failed = 0, uncountedTerminatedPods: uncounted } = status ?? {};
      return {
        succeeded: succeeded + (uncounted?.succeeded?.length ?? 0),
        failed: failed + (uncounted?.failed?.length ?? 0),
        succeededIndexes: IndexSet.parse(status?.completedIndexes ?? '', completions),
        failedIndexes: IndexSet.parse(status?.failedIndexes ?? '', completions),
      };
    },
    releasePod: release,
    write: async (input, signal) => {
      await new FinalizerPass(parts, { input, isTracked, release }).run(signal);
    },
  };
}

interface FinalizerInput {
  readonly input: StatusInput;
  readonly isTracked: (pod: Pod) => boolean;
  readonly release: (pod: Pod, signal: AbortSignal) => Promise<void>;
}

/** Upstream's `trackJobStatusAndRemoveFinalizers`. */
class FinalizerPass {
  readonly #parts: TrackingParts;
  readonly #pass: FinalizerInput;
  readonly #uncounted: { succeeded: string[]; failed: string[] };
  #isFull = false;

  constructor(parts: TrackingParts, pass: FinalizerInput) {
    this.#parts = parts;
    this.#pass = pass;
    const { succeeded = [], failed = [] } = pass.input.status.uncountedTerminatedPods ?? {};
    this.#uncounted = { succeeded: [...succeeded], failed: [...failed] };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { view, status, end, nowMs } = this.#pass.input;
    const { succeededIndexes, failedIndexes, counts } = view;
    this.#countReleased(status);
    const leaving = this.#collect();
    Object.assign(status, counts);
    if (isIndexed(view.job)) {
      // Only indexes whose pods were collected are in the status; the others come with a later pass.
      const done = this.#isFull ? this.#collectedIndexes(leaving) : succeededIndexes;
      status.succeeded = done.size;
      status.completedIndexes = done.toString();
      if (failedIndexes !== undefined) status.failedIndexes = failedIndexes.toString();
    }
    const last = this.#noteInterim(status, end);
    this.#putUncounted(status);
    let job = await writeStatus(this.#parts, view.job, status, signal);
    const failures = await this.#releaseAll(leaving, signal);
    const next: Writable<JobStatus> = { ...status };
    this.#countReleased(next);
    this.#putUncounted(next);
    const isEnded = last !== undefined && failures === undefined && this.#mayEnd(next);
    if (isEnded) finish(next, last, nowMs);
    job = await writeStatus(this.#parts, job, next, signal);
    if (isEnded) reportEnd(this.#parts, job, last);
    if (failures !== undefined) throw failures;
  }

  #mayEnd({ uncountedTerminatedPods: { succeeded = [], failed = [] } = {} }: JobStatus): boolean {
    return (
      !this.#isFull &&
      succeeded.length + failed.length === 0 &&
      this.#pass.input.view.counts.terminating === 0
    );
  }

  /** Moves the uids of pods whose finalizer is gone into the counters. */
  #countReleased(status: Writable<JobStatus>): void {
    const { view } = this.#pass.input;
    const tracked = new Set(view.pods.filter(this.#pass.isTracked).map(({ metadata }) => metadata.uid ?? ''));
    const { succeeded, failed } = this.#uncounted;
    const still = {
      succeeded: succeeded.filter((uid) => tracked.has(uid)),
      failed: failed.filter((uid) => tracked.has(uid)),
    };
    status.succeeded = (status.succeeded ?? 0) + succeeded.length - still.succeeded.length;
    status.failed = (status.failed ?? 0) + failed.length - still.failed.length;
    Object.assign(this.#uncounted, still);
  }

  /** Puts ended pods on the list of uncounted ones; returns the pods whose finalizer may go then. */
  #collect(): readonly Pod[] {
    const { view, end } = this.#pass.input;
    const leaving: Pod[] = [];
    for (const pod of [...view.uncounted].sort(byIndex)) {
      if (!this.#mayLeave(pod)) continue;
      if (leaving.length >= UNCOUNTED_MAX) {
        this.#isFull = true;
        break;
      }
      leaving.push(pod);
      this.#note(pod, end);
    }
    return leaving;
  }

  #note(pod: Pod, end: JobEnd | undefined): void {
    const { job } = this.#pass.input.view;
    const { uid = '' } = pod.metadata;
    const { succeeded, failed } = this.#uncounted;
    if (pod.status?.phase === 'Succeeded' && !failed.includes(uid)) {
      if (!isIndexed(job) && !succeeded.includes(uid)) succeeded.push(uid);
      return;
    }
    const isFailed = hasFailed(pod, job) || (end !== undefined && !isSuccess(end));
    const isOwn = !isIndexed(job) || validIndexOf(pod, job) !== undefined;
    if (isFailed && isOwn && !failed.includes(uid) && decideFailure(job, pod).counts) failed.push(uid);
  }

  #mayLeave(pod: Pod): boolean {
    const { view, end } = this.#pass.input;
    const { job, lastFailed } = view;
    if (isBeingDeleted(job) || end !== undefined || pod.status?.phase === 'Succeeded') return true;
    const index = completionIndexOf(pod);
    const isKept = index !== undefined && lastFailed.get(index)?.metadata.uid === pod.metadata.uid;
    return hasFailed(pod, job) && !isKept;
  }

  #collectedIndexes(leaving: readonly Pod[]): IndexSet {
    const { job } = this.#pass.input.view;
    const before = IndexSet.parse(job.status?.completedIndexes ?? '', job.spec.completions ?? 0);
    const done = leaving.filter(({ status }) => status?.phase === 'Succeeded');
    return before.with(IndexSet.of(done.flatMap((pod) => validIndexOf(pod, job) ?? [])));
  }

  /** Writes the condition that comes before the last one, and returns the last one. */
  #noteInterim(status: Writable<JobStatus>, end: JobEnd | undefined): JobEnd | undefined {
    if (end === undefined || end.type === 'Failed' || end.type === 'Complete') return end;
    const { nowMs } = this.#pass.input;
    status.conditions = withJobCondition(status.conditions ?? [], { ...end, status: 'True' }, nowMs);
    return { ...end, type: isSuccess(end) ? 'Complete' : 'Failed' };
  }

  #putUncounted(status: Writable<JobStatus>): void {
    const { succeeded, failed } = this.#uncounted;
    status.uncountedTerminatedPods = {
      ...(succeeded.length === 0 ? {} : { succeeded: [...succeeded] }),
      ...(failed.length === 0 ? {} : { failed: [...failed] }),
    };
  }

  async #releaseAll(pods: readonly Pod[], signal: AbortSignal): Promise<Error | undefined> {
    try {
      await forEachLimited(pods, CALLS_AT_ONCE_MAX, async (pod) => this.#pass.release(pod, signal));
      return undefined;
    } catch (error) {
      return asError(error);
    }
  }
}

function byIndex(a: Pod, b: Pod): number {
  return (completionIndexOf(a) ?? Infinity) - (completionIndexOf(b) ?? Infinity) || 0;
}

function finish(status: Writable<JobStatus>, { type, reason, message }: JobEnd, nowMs: number): void {
  const wanted = {
    type,
    status: 'True',
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
  status.conditions = withJobCondition(status.conditions ?? [], wanted, nowMs);
  if (type === 'Complete') status.completionTime = formatTime(nowMs);
}

function reportEnd({ report }: TrackingParts, job: Job, { type, reason = '', message = '' }: JobEnd): void {
  const about = { resource: PARENT.jobs, object: job };
  const { completions } = job.spec;
  if (type !== 'Complete') {
    report(about, { type: 'Warning', reason, message });
    return;
  }
  if (completions !== undefined && (job.status?.succeeded ?? 0) > completions) {
    const tooMany = 'Too many succeeded pods running after completion count reached';
    report(about, { type: 'Warning', reason: 'TooManySucceededPods', message: tooMany });
  }
  report(about, { type: 'Normal', reason: 'Completed', message: 'Job completed' });
}

/** Writes the status if it differs from the current one. A conflict is thrown: the next pass counts again. */
async function writeStatus(
  { client, onWrite }: TrackingParts,
  job: Job,
  status: JobStatus,
  signal: AbortSignal,
): Promise<Job> {
  if (deepEqual(normalized(job.status ?? {}), normalized(status))) return job;
  const written = await client.updateStatus(RESOURCE.jobs, { ...job, status }, { signal });
  onWrite(written);
  return written;
}

/** Leaves out what the server leaves out or writes by itself: counts that are 0, and empty texts, lists and messages. */
function normalized(status: JobStatus): object {
  return Object.fromEntries(
    Object.entries(status).filter(
      ([, value]) =>
        value !== undefined &&
        value !== 0 &&
        value !== '' &&
        !(typeof value === 'object' && value !== null && Object.keys(value).length === 0),
    ),
  );
}
