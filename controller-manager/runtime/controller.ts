import type { Client } from '../../shared/client/client';
import type { Clock } from '../../shared/concurrency/clock';
import type { WorkQueue, WorkQueueOptions } from '../../shared/concurrency/work-queue';
import type { Log } from '../../shared/log/log';
import type { GroupVersionResource } from '../../shared/object/object';
import type { ControllerOptions, ManagerGate } from './controller-options';
import type { SharedInformers } from './shared-informers';

/** The context of every controller. */
export interface ControllerContext {
  /** Acts as the controller. */
  readonly client: Client;
  /** Lists and watches everything; the controller itself may not. */
  readonly reader: Client;
  /** Informers that read by `reader` and are shared by all controllers. */
  readonly informers: SharedInformers;
  readonly log: Log;
  readonly options: ControllerOptions;
  /** Creates the controller's work queue, measured under its name. */
  readonly createQueue: (options?: WorkQueueOptions) => WorkQueue;
  /** The time by which objects expire and schedules are due. */
  readonly clock: Clock;
}

export interface Controller {
  /** The name in `--controllers`. */
  readonly name: string;
  /** The service account with the controller's permissions; absent: it acts as the process. */
  readonly account?: string;
  /** It exists only at levels that serve this resource. */
  readonly resource?: GroupVersionResource;
  /** It exists only while all of these feature gates are on. */
  readonly gates?: readonly ManagerGate[];
  /** Runs only when named in `--controllers`. */
  readonly isOffByDefault?: true;
  /** Works until the signal aborts and resolves once all work has ended. */
  readonly run: (context: ControllerContext, signal: AbortSignal) => Promise<void>;
}
