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
import type { Counters } from './stats';

/** The services that the caches of one replica share. */
export interface CacheServices {
  readonly backend: Backend;
  /** The root of all keys, without a trailing slash. */
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
}

/** The cluster cache, as the caches of its resources see it. */
export interface CacheOwner {
  /** The newest revision that is fully applied; 0 while there is no state. */
  readonly revision: () => number;
  /** Whether new watches are refused, because the replica drains. */
  readonly refusesWatches: () => boolean;
  /** Evicts the watchers with the longest queues, because all queues together exceed their budget. */
  readonly relieveQueues: () => void;
  /** Fills the resource with this key prefix and keeps it up to date, if that is not so yet. */
  readonly requestFill: (keyPrefix: string) => void;
  /** Whether the cache reaches the revision in time. */
  readonly waitForRevision: (revision: number, options: WaitOptions) => Promise<boolean>;
}

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}
