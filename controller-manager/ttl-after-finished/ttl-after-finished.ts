import { RESOURCE } from '../../shared/api/resource-names';
import type { Job } from '../../shared/api/types/batch-v1';
import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { finishedAtMs } from '../pods/conditions';
import type { ControllerContext } from '../runtime/controller';
import { runObjectLoop } from '../runtime/object-loop';
import { isBeingDeleted } from '../runtime/owner';

const WORKERS = 5;
const SECOND_MS = 1_000;

/** Deletes finished Jobs, with their pods, after the time that they ask for in `ttlSecondsAfterFinished`. */
export async function runTtlAfterFinished(
  context: ControllerContext,
  signal: AbortSignal,
  clock: Clock = context.clock,
): Promise<void> {
  await runObjectLoop(
    {
      context,
      informer: context.informers.of(RESOURCE.jobs),
      workers: context.options.concurrentTtlAfterFinishedSyncs ?? WORKERS,
      concerns: (job) => endOf(job) !== undefined && !isBeingDeleted(job),
      reconcile: async (job, stop) => deleteWhenDue(context, { job, clock }, stop),
    },
    signal,
  );
}

async function deleteWhenDue(
  { client, log }: ControllerContext,
  { job, clock }: { readonly job: Job; readonly clock: Clock },
  signal: AbortSignal,
): Promise<Requeue | undefined> {
  const leftMs = (endOf(job) ?? Infinity) - clock.now();
  if (leftMs > 0) return { requeueAfterMs: leftMs };
  const { namespace, name = '', uid = '', resourceVersion = '' } = job.metadata;
  try {
    // The version makes sure that a Job whose time was extended meanwhile stays.
    await client.delete(
      RESOURCE.jobs,
      { namespace, name },
      { propagationPolicy: 'Foreground', preconditions: { uid, resourceVersion } },
      { signal },
    );
    log.info({ namespace, job: name }, 'finished job deleted');
  } catch (error) {
    if (!hasCode(error, 404, 409)) throw error;
  }
  return undefined;
}

/** Returns when the Job is to be deleted, in milliseconds since the epoch; undefined if it is not. */
function endOf(job: Job): number | undefined {
  const { ttlSecondsAfterFinished: ttl } = job.spec;
  const finishedMs = finishedAtMs(job);
  return ttl === undefined || finishedMs === undefined ? undefined : finishedMs + ttl * SECOND_MS;
}
