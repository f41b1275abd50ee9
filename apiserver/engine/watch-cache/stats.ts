import type { Bucketed } from '../../../shared/metrics/buckets';
import type { Delays } from '../../../shared/metrics/duration-histogram';
import type { EndReason } from './fan-out/watch-request';
import { END_REASONS } from './fan-out/watch-request';

/** See `self-check.ts`. */
export type CheckOutcome = 'equal' | 'different' | 'skipped';

/** What happened since the start of the process. Numbers only grow. */
export interface Counters {
  /** Complete fills of the whole cache, the first included. */
  fills: number;
  /** Refills of one resource or of all because the state could not be trusted. */
  rebuilds: number;
  /** Objects read by fills. */
  filledObjects: number;
  /** Changes applied from the store's watch. */
  events: number;
  /** Revisions seen, those of foreign keys included. */
  revisions: number;
  /** Stored values that could not be decoded. */
  undecodable: number;
  /** Times the feed had to be resumed after an error. */
  feedFailures: number;
  watchesStarted: number;
  readonly watchesEnded: Record<EndReason, number>;
  historyStreams: number;
  /** Comparisons of one resource with the store, by outcome. */
  readonly checks: Record<CheckOutcome, number>;
  readIndexCalls: number;
  readIndexRequests: number;
}

export function createCounters(): Counters {
  return {
    fills: 0,
    rebuilds: 0,
    filledObjects: 0,
    events: 0,
    revisions: 0,
    undecodable: 0,
    feedFailures: 0,
    watchesStarted: 0,
    watchesEnded: Object.fromEntries(END_REASONS.map((reason) => [reason, 0])) as Record<EndReason, number>,
    historyStreams: 0,
    checks: { equal: 0, different: 0, skipped: 0 },
    readIndexCalls: 0,
    readIndexRequests: 0,
  };
}

/** Of the watches that asked for one version. */
export interface SentStats {
  readonly apiVersion: string;
  readonly frames: number;
  /** Of those, what was handed out before the watch was live. */
  readonly initial: number;
  /** Open now. */
  readonly watchers: number;
  /** Bytes of the frames. */
  readonly sizes: Bucketed;
}

export interface ResourceStats {
  readonly resource: string;
  readonly objects: number;
  readonly objectBytes: number;
  readonly slabBytes: number;
  readonly ringEvents: number;
  readonly ringBytes: number;
  readonly oldestWatchable: number;
  readonly watchers: number;
  /** Frames for watchers since the start: the state, past and live events, bookmarks and errors; by the version asked for. */
  readonly sent: readonly SentStats[];
  /** Watches ended because their client did not take what it asked for. */
  readonly slowEnded: number;
  readonly isReady: boolean;
  /** Readers and watches that wait until it is. */
  readonly readyWaiters: number;
}

/** One watch, for administrators: one that is open, or has ended with a queue that is not read yet. */
export interface WatcherInfo {
  readonly resource: string;
  readonly client: string;
  readonly namespace: string;
  readonly name: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly representation: string;
  readonly isLive: boolean;
  readonly queuedFrames: number;
  /** What it takes of the budget of all queues; what several have counts there once. */
  readonly queuedBytes: number;
  readonly sentRevision: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

export interface CacheStats extends Counters {
  readonly revision: number;
  readonly ringBytes: number;
  readonly derivedBytes: number;
  readonly snapshotBytes: number;
  /** Of the queues of all watchers. */
  readonly queuedBytes: number;
  readonly watchers: number;
  readonly flushes: number;
  readonly coalesceDelayMs: number;
  readonly delays: Delays;
  readonly resources: readonly ResourceStats[];
}
