import type { Clock } from '../../../shared/concurrency/clock';
import type { Log } from '../../../shared/log/log';
import type { Backend } from '../storage/backend';
import type { DecodedValues } from './state/entry-codec';
import { DerivedBudget } from './state/derived-budget';
import type { Delays } from '../../../shared/metrics/duration-histogram';
import { createDelays } from '../../../shared/metrics/duration-histogram';
import { HistoryGate } from './fan-out/history-gate';
import type { CacheLimits } from './limits';
import type { RecentObjects } from './recent-objects';
import { RingBudget } from './state/ring';
import { QueueBudget } from './fan-out/queue-budget';
import { FlushScheduler } from './fan-out/scheduler';
import { SnapshotBudget } from './state/snapshot-budget';
import type { CacheStats, Counters, ResourceStats } from './stats';
import { createCounters } from './stats';

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
  /** Only for a store that returns the same bytes again. */
  readonly decoded?: DecodedValues | undefined;
}

/** Creates the services, with budgets and queues of their limits. */
export function createCacheServices(
  parts: Pick<CacheServices, 'backend' | 'prefix' | 'limits' | 'log' | 'clock' | 'recent' | 'decoded'>,
): CacheServices {
  const { limits } = parts;
  const delays = createDelays();
  return {
    ...parts,
    counters: createCounters(),
    delays,
    scheduler: new FlushScheduler({
      delayMaxMs: limits.coalesceMaxMs,
      queues: new QueueBudget(limits.watcherQueuesBytesMax),
      onFlushed: (waitedMs, queues) => {
        delays.toListener.observe(waitedMs, queues);
      },
    }),
    derived: new DerivedBudget(limits.derivedBytesMax),
    rings: new RingBudget(limits.ringBytesMax),
    snapshots: new SnapshotBudget({ bytesMax: limits.snapshotBytesMax, ageMaxMs: limits.snapshotAgeMaxMs }),
    history: new HistoryGate({
      streamsMax: limits.historyStreamsMax,
      turnMsMax: limits.historyTurnMsMax,
      pauseMsMax: limits.historyPauseMsMax,
    }),
  };
}

/** Returns the figures of the whole cache, which is at `revision`. */
export function clusterStats(
  { counters, delays, rings, derived, snapshots, scheduler }: CacheServices,
  revision: number,
  caches: readonly { stats(): ResourceStats }[],
): CacheStats {
  const resources = caches.map((cache) => cache.stats());
  return {
    ...counters,
    watchesEnded: { ...counters.watchesEnded },
    checks: { ...counters.checks },
    delays,
    revision,
    ringBytes: rings.bytes,
    derivedBytes: derived.bytes,
    snapshotBytes: snapshots.bytes,
    queuedBytes: scheduler.queues.bytes,
    watchers: resources.reduce((sum, { watchers }) => sum + watchers, 0),
    flushes: scheduler.flushes,
    coalesceDelayMs: scheduler.lastDelayMs,
    resources,
  };
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
