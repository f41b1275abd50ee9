import type { Clock } from '../../shared/concurrency/clock';
import type { Log } from '../../shared/log/log';
import type { Backend } from '../storage/backend';
import type { Transformer } from '../storage/transformer';
import type { DerivedBudget } from './derived-budget';
import type { Delays } from './duration-histogram';
import type { HistoryGate } from './history-gate';
import type { CacheLimits } from './limits';
import type { OwnWrites } from './own-writes';
import type { RingBudget } from './ring';
import type { FlushScheduler } from './scheduler';
import type { SnapshotBudget } from './snapshot-budget';
import type { Counters } from './stats';

/** What the caches of one replica share. */
export interface CacheContext {
  readonly backend: Backend;
  readonly transformer: Transformer;
  /** Without a trailing slash. */
  readonly prefix: string;
  readonly limits: CacheLimits;
  readonly log: Log;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly delays: Delays;
  readonly scheduler: FlushScheduler;
  readonly derived: DerivedBudget;
  readonly rings: RingBudget;
  readonly snapshots: SnapshotBudget;
  readonly history: HistoryGate;
  readonly ownWrites: OwnWrites;
  /** The newest revision fully applied; 0 while there is no state. */
  readonly revision: () => number;
  /** True when watches that begin now are not to be served any more. */
  readonly refusesWatches: () => boolean;
  /** Whether that revision is there in time. */
  readonly waitForRevision: (revision: number, options: WaitOptions) => Promise<boolean>;
}

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}
