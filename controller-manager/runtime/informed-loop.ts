import type { WorkLoopOptions } from '../../shared/concurrency/work-loop';
import { runWorkers } from '../../shared/concurrency/work-loop';
import { getRetryAfterMs } from '../../shared/errors/status-error';

export interface InformedLoopOptions extends Omit<WorkLoopOptions, 'retryAfterMs'> {
  /** The informers that decisions depend on. Their handlers put keys into the queue. */
  readonly informers: readonly {
    run(signal: AbortSignal): Promise<void>;
    whenSynced(signal: AbortSignal): Promise<void>;
  }[];
  /** Records the Events about the objects, and runs as long. */
  readonly recorder?: { run(signal: AbortSignal): Promise<void> };
}

/**
 * Runs the informers, and works on keys once all of them are synced; a `Retry-After` of the server is respected. Resolves when everything
 * has ended.
 */
export async function runInformedLoop(options: InformedLoopOptions, signal: AbortSignal): Promise<void> {
  const { informers, recorder } = options;
  await Promise.all([
    ...informers.map(async (informer) => informer.run(signal)),
    recorder?.run(signal),
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
