import { RESOURCE } from '../../shared/api/resource-names';
import type { CronJob, Job } from '../../shared/api/types/batch-v1';
import type { Clock } from '../../shared/concurrency/clock';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { keyOfObject } from '../../shared/informer/store';
import { PARENT } from '../pods/children';
import type { ControllerContext } from '../runtime/controller';
import { hasFeature } from '../runtime/controller-options';
import { EventRecorder } from '../runtime/event-recorder';
import { runInformedLoop } from '../runtime/informed-loop';
import { ownerOf } from '../runtime/owner';
import { INDEX } from '../runtime/shared-informers';
import { CronJobPass, scheduleOf } from './cronjob-pass';
import { JobControl } from './job-control';
import { msUntilNext } from './missed-times';

const WORKERS = 5;

/** Starts the Jobs of every CronJob when they are due. */
export async function runCronJobs(
  context: ControllerContext,
  signal: AbortSignal,
  clock: Clock = context.clock,
): Promise<void> {
  const { log, client, informers, options, createQueue } = context;
  const queue = createQueue();
  const recorder = new EventRecorder({ client, clock, log });
  const report = recorder.reporterFor('cronjob-controller');
  const cronJobs = informers.of(RESOURCE.cronjobs);
  const jobs = informers.of(RESOURCE.jobs);
  const enqueue = (cronJob: CronJob): void => queue.add(keyOfObject(cronJob));
  cronJobs.addHandler({
    onAdd: enqueue,
    onUpdate: (before, after) => {
      const isMoved =
        before.spec.schedule !== after.spec.schedule || before.spec.timeZone !== after.spec.timeZone;
      const schedule = isMoved ? scheduleOf(after) : undefined;
      if (schedule === undefined || typeof schedule === 'string') return enqueue(after);
      // A time that the new schedule would have had before the change is not made up for.
      const waitMs = msUntilNext({ ...schedule, cronJob: after, nowMs: clock.now() });
      return queue.addAfter(keyOfObject(after), waitMs);
    },
  });
  const enqueueOwner = (job: Job): void => {
    const owner = ownerOf(job);
    if (owner?.kind !== PARENT.cronJobs.kind) return;
    const cronJob = cronJobs.store.get(`${job.metadata.namespace ?? ''}/${owner.name}`);
    if (cronJob?.metadata.uid === owner.uid) enqueue(cronJob);
  };
  jobs.addHandler({
    onAdd: enqueueOwner,
    onUpdate: (before, after) => {
      if (ownerOf(before)?.uid !== ownerOf(after)?.uid) enqueueOwner(before);
      enqueueOwner(after);
    },
    onDelete: enqueueOwner,
  });
  const control = new JobControl(client);
  const isAnnotated = hasFeature(options, 'CronJobsScheduledAnnotation');

  const reconcile = async (key: string, stop: AbortSignal): Promise<Requeue | undefined> => {
    const cronJob = cronJobs.store.get(key);
    if (cronJob === undefined) return undefined;
    const own = jobs.store.byIndex(INDEX.controller, cronJob.metadata.uid ?? '');
    const pass = new CronJobPass(
      { control, report, isAnnotated },
      { cronJob, jobs: own, nowMs: clock.now() },
    );
    return pass.run(stop);
  };
  await runInformedLoop(
    {
      informers: [cronJobs, jobs],
      queue,
      workers: options.concurrentCronJobSyncs ?? WORKERS,
      log,
      reconcile,
      recorder,
    },
    signal,
  );
}
