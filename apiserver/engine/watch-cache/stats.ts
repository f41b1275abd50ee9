import type { Bucketed } from '../../../shared/metrics/buckets';
import type { Delays } from '../../../shared/metrics/duration-histogram';
import type { EndReason } from './fan-out/watch-request';
import { END_REASONS } from './fan-out/watch-request';

/** See `self-check.ts`. */
export type CheckOutcome = 'equal' | 'different' | 'skipped';

/** Counters since the start of the process. */
export interface Counters {
  /** Complete fills of the whole cache, the first included. */
  fills: number;
  /** Refills of one resource or of all after a detected inconsistency. */
  rebuilds: number;
  /** Objects read by fills. */
  filledObjects: number;
  /** Changes applied from the store's watch. */
  events: number;
  /** Revisions seen, including those of foreign keys. */
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

/** Counters of the watches in one API version. */
export interface SentStats {
  readonly apiVersion: string;
  readonly frames: number;
  /** Frames sent during catch-up, before the watch was live. */
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
  /** All frames for watchers since the start, by requested API version. */
  readonly sent: readonly SentStats[];
  /** Watchers evicted because their client read too slowly. */
  readonly slowEnded: number;
  readonly isReady: boolean;
  /** Readers and watches that wait for the fill. */
  readonly readyWaiters: number;
}

/** One watch, for debug pages: it is open, or has ended with an unread queue. */
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
  /** Bytes of its queue; a frame shared with other watchers counts fully here, but once in the budget. */
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
  /** Bytes of the queues of all watchers. */
  readonly queuedBytes: number;
  readonly watchers: number;
  readonly flushes: number;
  readonly coalesceDelayMs: number;
  readonly delays: Delays;
  readonly resources: readonly ResourceStats[];
}
