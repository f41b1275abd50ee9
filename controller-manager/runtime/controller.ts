import type { Client } from '../../shared/client/client';
import type { WorkQueue, WorkQueueOptions } from '../../shared/concurrency/work-queue';
import type { Log } from '../../shared/log/log';
import type { ControllerOptions } from './controller-options';

/** What every controller gets. */
export interface ControllerContext {
  /** Acts as the controller. */
  readonly client: Client;
  /** Lists and watches whatever there is; the controller itself may not. */
  readonly reader: Client;
  readonly log: Log;
  readonly options: ControllerOptions;
  /** Makes the queue of the controller's work, which is measured under its name. */
  readonly createQueue: (options?: WorkQueueOptions) => WorkQueue;
}

/** The feature gates that switch something in this program. */
export const MANAGER_GATES = ['APIServerIdentity', 'StorageVersionAPI'] as const;
export type ManagerGate = (typeof MANAGER_GATES)[number];

export interface Controller {
  /** As `--controllers` names it. */
  readonly name: string;
  /** The service account whose rights are those that the controller needs; absent: it acts as the process itself. */
  readonly account?: string;
  /** Only there while all of these feature gates are on. */
  readonly gates?: readonly ManagerGate[];
  /** Only runs where `--controllers` names it. */
  readonly isOffByDefault?: true;
  /** Works until the signal aborts, then resolves once all its work has ended. */
  readonly run: (context: ControllerContext, signal: AbortSignal) => Promise<void>;
}
