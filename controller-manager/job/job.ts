import { isInForce } from '../../shared/api/changes';
import { RESOURCE } from '../../shared/api/resource-names';
import type { Job } from '../../shared/api/types/batch-v1';
import type { Pod } from '../../shared/api/types/core-v1';
import type { Client } from '../../shared/client/client';
import type { WorkQueue } from '../../shared/concurrency/work-queue';
import type { Informer } from '../../shared/informer/informer';
import type { Clock } from '../../shared/concurrency/clock';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { keyOfObject } from '../../shared/informer/store';
import { matchesLabels, toLabelSelector } from '../../shared/meta/labels';
import { JOB_CONTROLLER_NAME, JOB_TRACKING_FINALIZER } from '../../shared/workload-names';
import {
  candidatesOf,
  claimChildren,
  PARENT,
  patchMetadata,
  removedFinalizer,
  selectorReader,
  watchChildren,
} from '../pods/children';
import { Expectations } from '../pods/expectations';
import { PodControl } from '../pods/pod-control';
import type { ControllerContext } from '../runtime/controller';
import type { ReportEvent } from '../runtime/event-recorder';
import { EventRecorder } from '../runtime/event-recorder';
import { runInformedLoop } from '../runtime/informed-loop';
import { ownerOf } from '../runtime/owner';
import { INDEX } from '../runtime/shared-informers';
import type { BackoffRecord } from './backoff';
import { NO_FAILURES } from './backoff';
import { isFinished } from '../pods/conditions';
import { JobPass } from './job-pass';
import { createFinalizerTracking, createPlainTracking } from './job-tracking';

const WORKERS = 5;
/** Changes of pods within this time are handled together, as upstream does. */
const BATCH_MS = 1_000;

export interface JobOptions {
  readonly clock?: Clock;
  readonly batchMs?: number;
  /** By default that of the API level. */
  readonly isModern?: boolean;
}

/** What is kept of a Job between two passes. */
interface JobMemory {
  record: BackoffRecord;
  readonly released: Set<string>;
  /** The version of the Job after the last write of its status. */
  version: string;
}

/** Runs the pods of every Job until enough of them have succeeded. */
export async function runJobs(
  context: ControllerContext,
  signal: AbortSignal,
  { clock = context.clock, batchMs = BATCH_MS, isModern = isInForce('jobFinalizers') }: JobOptions = {},
): Promise<void> {
  const { log, client, createQueue } = context;
  const [queue, orphans] = [createQueue(), createQueue()];
  const recorder = new EventRecorder({ client, clock, log });
  const report = recorder.reporterFor('job-controller');
  const controller = new JobController(context, { clock, report, queue, orphans, isModern });
  controller.watch(batchMs);
  const loop = { informers: controller.informers, workers: WORKERS, log };
  await Promise.all([
    runInformedLoop(
      { ...loop, recorder, queue, reconcile: async (key, stop) => controller.reconcile(key, stop) },
      signal,
    ),
    runInformedLoop(
      { ...loop, queue: orphans, reconcile: async (key, stop) => controller.releaseOrphan(key, stop) },
      signal,
    ),
  ]);
}

interface JobControllerParts {
  readonly clock: Clock;
  readonly report: ReportEvent;
  /** Keys of Jobs. */
  readonly queue: WorkQueue;
  /** Keys of pods whose Job may have ended or be gone. */
  readonly orphans: WorkQueue;
  readonly isModern: boolean;
}

class JobController {
  readonly #client: Client;
  readonly #parts: JobControllerParts;
  readonly #jobs: Informer<Job>;
  readonly #pods: Informer<Pod>;
  readonly #expectations: Expectations<Pod>;
  readonly #control: PodControl;
  readonly #selectorOf = selectorReader(({ spec }: Job) => toLabelSelector(spec.selector));
  /** By key; an entry ends with its Job. */
  readonly #memories = new Map<string, JobMemory>();

  constructor({ client, informers }: ControllerContext, parts: JobControllerParts) {
    this.#client = client;
    this.#parts = parts;
    this.#jobs = informers.of(RESOURCE.jobs);
    this.#pods = informers.of(RESOURCE.pods);
    this.#expectations = new Expectations({ ...parts, store: this.#pods.store });
    this.#control = new PodControl({ client, report: parts.report });
  }

  get informers(): readonly [Informer<Job>, Informer<Pod>] {
    return [this.#jobs, this.#pods];
  }

  /** Enqueues what changes. */
  watch(batchMs: number): void {
    const { queue, orphans } = this.#parts;
    const enqueuePods = (job: Job): void => {
      for (const pod of this.#pods.store.byIndex(INDEX.controller, job.metadata.uid ?? ''))
        orphans.add(keyOfObject(pod));
    };
    this.#jobs.addHandler({
      onAdd: (job) => queue.add(keyOfObject(job)),
      onUpdate: (_before, job) => {
        queue.add(keyOfObject(job));
        if (isFinished(job)) enqueuePods(job);
      },
      onDelete: (job) => {
        queue.add(keyOfObject(job));
        enqueuePods(job);
      },
    });
    watchChildren({
      children: this.#pods,
      parents: this.#jobs,
      kind: PARENT.jobs.kind,
      queue: { add: (key) => queue.addAfter(key, batchMs) },
      selectorOf: this.#selectorOf,
      onDelete: (pod) => this.#expectations.noteDeleted(pod),
    });
    const enqueueOrphan = (pod: Pod): void => {
      if (this.#isOrphan(pod)) orphans.add(keyOfObject(pod));
    };
    this.#pods.addHandler({ onAdd: enqueueOrphan, onUpdate: (_before, after) => enqueueOrphan(after) });
  }

  /** Reports whether the pod has the finalizer though no Job has to count it any more. */
  #isOrphan(pod: Pod): boolean {
    if (pod.metadata.finalizers?.includes(JOB_TRACKING_FINALIZER) !== true) return false;
    const owner = ownerOf(pod);
    if (owner === undefined) return true;
    // Pods of other owners, and of Jobs that another controller manages, are none of this one's.
    if (owner.kind !== PARENT.jobs.kind) return false;
    const job = this.#jobs.store.get(`${pod.metadata.namespace ?? ''}/${owner.name}`);
    if (job?.metadata.uid !== owner.uid) return true;
    return !isManagedElsewhere(job) && isFinished(job);
  }

  async releaseOrphan(key: string, signal: AbortSignal): Promise<undefined> {
    const pod = this.#pods.store.get(key);
    if (pod === undefined || !this.#isOrphan(pod)) return undefined;
    const metadata = removedFinalizer(JOB_TRACKING_FINALIZER);
    const patch = { client: this.#client, childResource: RESOURCE.pods, child: pod, metadata };
    await patchMetadata(patch, [404, 422], signal);
    return undefined;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const job = this.#jobs.store.get(key);
    if (job === undefined || isFinished(job)) {
      this.#memories.delete(key);
      if (job === undefined) this.#expectations.forget(key);
      return undefined;
    }
    if (isManagedElsewhere(job) || !this.#hasKnownMode(job)) return undefined;
    const memory = this.#memories.get(key) ?? { record: NO_FAILURES, released: new Set(), version: '' };
    this.#memories.set(key, memory);
    // Counted pods are counted in the new status only; with an old one they would be missing, and be made again.
    if (isOlder(job, memory.version)) return undefined;
    const mayAct = this.#expectations.areMet(key);
    const pods = await this.#claim(job, signal);
    const present = new Set(pods.map(({ metadata }) => metadata.uid));
    for (const uid of memory.released) if (!present.has(uid)) memory.released.delete(uid);
    const { clock, report, isModern } = this.#parts;
    const onWrite = ({ metadata }: Job): void => {
      memory.version = metadata.resourceVersion ?? '';
    };
    const parts = { client: this.#client, report, onWrite };
    const tracking = isModern ? createFinalizerTracking(parts, memory.released) : createPlainTracking(parts);
    const pass = new JobPass(
      { clock, control: this.#control, report, expectations: this.#expectations, tracking, isModern },
      { job, pods, mayAct, record: isModern ? memory.record : NO_FAILURES },
    );
    const { record, requeueAfterMs } = await pass.run(signal);
    memory.record = record;
    return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
  }

  #hasKnownMode(job: Job): boolean {
    const { completionMode = 'NonIndexed' } = job.spec;
    if (completionMode === 'NonIndexed' || completionMode === 'Indexed') return true;
    const message = 'Skipped Job sync because completion mode is unknown';
    const about = { resource: PARENT.jobs, object: job };
    this.#parts.report(about, { type: 'Warning', reason: 'UnknownCompletionMode', message });
    return false;
  }

  async #claim(job: Job, signal: AbortSignal): Promise<readonly Pod[]> {
    const selector = this.#selectorOf(job);
    return claimChildren<Job, Pod>(
      {
        client: this.#client,
        parent: job,
        parentResource: PARENT.jobs,
        childResource: RESOURCE.pods,
        matches: ({ metadata }) => matchesLabels(selector, metadata.labels),
        finalizer: this.#parts.isModern ? JOB_TRACKING_FINALIZER : undefined,
      },
      candidatesOf(this.#pods, job),
      signal,
    );
  }
}

function isManagedElsewhere({ spec }: Job): boolean {
  return spec.managedBy !== undefined && spec.managedBy !== JOB_CONTROLLER_NAME;
}

/** Reports whether the informer still shows the Job as it was before this version, of which an event is to come. */
function isOlder({ metadata }: Job, version: string): boolean {
  const { resourceVersion = '' } = metadata;
  if (!/^\d+$/u.test(version) || !/^\d+$/u.test(resourceVersion)) return false;
  return BigInt(resourceVersion) < BigInt(version);
}
