import type { WorkLoopOptions } from '../../shared/concurrency/work-loop';
import { runWorkers } from '../../shared/concurrency/work-loop';
import { getRetryAfterMs } from '../../shared/errors/status-error';

export interface InformedLoopOptions extends Omit<WorkLoopOptions, 'retryAfterMs'> {
  /** What the work is decided on. Their handlers put keys into the queue. */
  readonly informers: readonly {
    run(signal: AbortSignal): Promise<void>;
    whenSynced(signal: AbortSignal): Promise<void>;
  }[];
}

/**
 * Keeps the informers current, and works on keys once all of them know what there is; what the server refused for a time comes no sooner.
 * Resolves when everything has ended.
 *
 * For a controller that decides on several collections, that has work to do when an object is gone, or whose keys are not those of the
 * objects that change. One that works on each object of one collection by itself takes `runObjectLoop`.
 */
export async function runInformedLoop(options: InformedLoopOptions, signal: AbortSignal): Promise<void> {
  const { informers } = options;
  await Promise.all([
    ...informers.map(async (informer) => informer.run(signal)),
    workWhenSynced(options, signal),
  ]);
}

async function workWhenSynced(options: InformedLoopOptions, signal: AbortSignal): Promise<void> {
  try {
    await Promise.all(options.informers.map(async (informer) => informer.whenSynced(signal)));
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  await runWorkers({ ...options, retryAfterMs: getRetryAfterMs }, signal);
}
