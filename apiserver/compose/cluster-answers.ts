import { systemClock } from '../../shared/concurrency/clock';
import type { Log } from '../../shared/log/log';
import type { AnswersOf } from '../engine/remote/shared-answers';
import type { Backend } from '../engine/storage/backend';
import { clusterIdOf } from '../kubernetes/bootstrap/cluster-record';
import type { ServerOptions } from './options/server-options';
import { retryUntilAvailable } from '../engine/storage/retry-until-available';
import { openSharedAnswers } from './shared-answers';

interface ServerLife {
  readonly log: Log;
  readonly backend: Backend;
  /** Aborts when the server is stopped. */
  readonly shutdownSignal: AbortSignal;
}

/**
 * Opens the cache of webhook responses that the replicas on one store share; undefined if it is not configured. Rejects when the shutdown
 * signal aborts.
 */
export async function openClusterAnswers(
  { sharedAnswers, authentication, authorizationWebhook, store }: ServerOptions,
  { log, backend, shutdownSignal }: ServerLife,
  stop: AbortSignal,
): Promise<AnswersOf | undefined> {
  if (sharedAnswers === undefined) return undefined;
  const { prefix: storePrefix } = store;
  const start = { log, clock: systemClock };
  const clusterId = await retryUntilAvailable(
    async () => clusterIdOf(backend, storePrefix, stop),
    start,
    stop,
  );
  const services = { tokens: authentication.tokenWebhook, access: authorizationWebhook };
  return openSharedAnswers(sharedAnswers, {
    clock: systemClock,
    storePrefix,
    clusterId,
    services,
    shutdownSignal,
  });
}
