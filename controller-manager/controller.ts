import type { Client } from '../shared/client/client';
import type { Log } from '../shared/log/log';

/** What every controller gets. */
export interface ControllerContext {
  readonly client: Client;
  readonly log: Log;
  readonly options: ControllerOptions;
}

export interface ControllerOptions {
  readonly concurrentNamespaceSyncs: number;
  /** How often every terminating namespace is looked at again without cause, in milliseconds. */
  readonly namespaceSyncPeriodMs: number;
  readonly concurrentGcSyncs: number;
  /** The certificates by which pods know the API server, as PEM text; absent where nobody says. */
  readonly rootCa?: string;
}

export interface Controller {
  /** As `--controllers` names it. */
  readonly name: string;
  /** Works until the signal aborts, then resolves once all its work has ended. */
  readonly run: (context: ControllerContext, signal: AbortSignal) => Promise<void>;
}
