import type { Clock } from '../../../shared/concurrency/clock';
import type { Log } from '../../../shared/log/log';
import type { Backend } from '../storage/backend';
import type { DerivedBudget } from './state/derived-budget';
import type { Delays } from '../../../shared/metrics/duration-histogram';
import type { HistoryGate } from './fan-out/history-gate';
import type { CacheLimits } from './limits';
import type { RecentObjects } from './recent-objects';
import type { RingBudget } from './state/ring';
import type { FlushScheduler } from './fan-out/scheduler';
import type { SnapshotBudget } from './state/snapshot-budget';
import type { ResourceCache } from './resource-cache';
import type { Counters } from './stats';

/** What the caches of one replica share. */
export interface CacheContext {
  readonly backend: Backend;
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
  readonly recent: RecentObjects;
  /** The newest revision fully applied; 0 while there is no state. */
  readonly revision: () => number;
  /** True when watches that begin now are not to be served any more. */
  readonly refusesWatches: () => boolean;
  /** The queues of watchers together are too large: the longest are to go. */
  readonly relieveQueues: () => void;
  /** Somebody waits for the resource, which is then read, and kept up to date, if it was not. */
  readonly want: (resource: ResourceCache) => void;
  /** Whether that revision is there in time. */
  readonly waitForRevision: (revision: number, options: WaitOptions) => Promise<boolean>;
}

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}
