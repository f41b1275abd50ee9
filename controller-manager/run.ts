import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

import type { Client } from '../shared/client/client';
import type { LeaderElectionOptions } from '../shared/client/leader-election';
import { runWithLeadership } from '../shared/client/leader-election';
import type { Clock } from '../shared/concurrency/clock';
import { systemClock } from '../shared/concurrency/clock';
import type { Log } from '../shared/log/log';
import { linkedAbort } from '../shared/concurrency/linked-abort';
import { waitForApiServer } from './runtime/api-server-wait';
import type { Controller, ControllerContext } from './runtime/controller';
import type { ControllerOptions } from './runtime/controller-options';
import type { Metrics } from './runtime/serving/metrics';
import { createSharedInformers } from './runtime/shared-informers';

export interface RunOptions {
  readonly client: Client;
  /** Returns a client that acts as a service account; by default all act as the client. */
  readonly clientOf?: ((account: string) => Client) | undefined;
  readonly log: Log;
  readonly controllers: readonly Controller[];
  readonly controllerOptions: ControllerOptions;
  readonly metrics: Pick<Metrics, 'queueOf' | 'noteLeading'>;
  /** The time of the cluster; that of the machine if absent. */
  readonly clock?: Clock | undefined;
  /** Undefined: this process runs without leader election. */
  readonly election?: Omit<LeaderElectionOptions, 'client' | 'identity' | 'log'> | undefined;
}

/** `lost`: another process may lead now, so this one must end. */
export type RunEnd = 'stopped' | 'lost';

/** Waits for the API server and the lease, then runs the controllers until the signal aborts or the lease is lost. */
export async function runControllerManager(options: RunOptions, signal: AbortSignal): Promise<RunEnd> {
  return runAsLeader(options, async (leading) => runControllers(options, leading), signal);
}

/**
 * Waits for the API server and the lease, then runs `work` until the signal aborts or the lease is lost, which aborts the signal of the work.
 * Throws what the work throws.
 */
export async function runAsLeader(
  { client, log, election, metrics }: Pick<RunOptions, 'client' | 'log' | 'election' | 'metrics'>,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<RunEnd> {
  if (election !== undefined) metrics.noteLeading(election.lease.name, false);
  try {
    await waitForApiServer(client, log, signal);
  } catch (error) {
    if (signal.aborted) return 'stopped';
    throw error;
  }
  if (election === undefined) {
    await work(signal);
    return 'stopped';
  }
  const identity = `${hostname()}_${randomUUID()}`;
  const end = await runWithLeadership(
    { ...election, client, log, identity },
    async (leading) => {
      metrics.noteLeading(election.lease.name, true);
      const onEnd = (): void => metrics.noteLeading(election.lease.name, false);
      leading.addEventListener('abort', onEnd, { once: true });
      await work(leading);
    },
    signal,
  );
  return end === 'lost' ? 'lost' : 'stopped';
}

/** If one controller throws, all are stopped and its error is rethrown: a standby is better than half a controller-manager. */
async function runControllers(options: RunOptions, signal: AbortSignal): Promise<void> {
  const { client, clientOf = () => client, log, controllers, controllerOptions, metrics } = options;
  const stop = linkedAbort(signal);
  const informers = createSharedInformers({ client, log }, stop.signal);
  const endings = await Promise.allSettled(
    controllers.map(async (controller) => {
      const { name, account, run } = controller;
      const context: ControllerContext = {
        client: account === undefined ? client : clientOf(account),
        reader: client,
        informers,
        log: log.child({ controller: name }),
        options: controllerOptions,
        createQueue: (queueOptions) => metrics.queueOf(name, queueOptions),
        clock: options.clock ?? systemClock,
      };
      context.log.debug({}, 'controller started');
      try {
        await run(context, stop.signal);
      } catch (error) {
        stop.abort(error instanceof Error ? error : new Error(String(error)));
        throw error;
      }
    }),
  );
  stop.unlink();
  const failure = endings.find((ending) => ending.status === 'rejected');
  if (failure !== undefined && !signal.aborted) throw failure.reason;
}
