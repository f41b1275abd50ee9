/** Bounds of the watch cache. Budgets in bytes hold for all resources of a replica together; what is oldest goes first. */
export interface CacheLimits {
  /** How long an event stays in the ring as long as the byte and event bounds allow. */
  readonly ringWindowMs: number;
  /** Per resource. */
  readonly ringEventsMax: number;
  /** Bytes of past states that only rings still need. */
  readonly ringBytesMax: number;
  /** Bytes of frames and other encodings made from events. */
  readonly derivedBytesMax: number;
  /** Bytes that only retained snapshots still need. */
  readonly snapshotBytesMax: number;
  readonly snapshotAgeMaxMs: number;
  /** How long the version of a list can be continued. */
  readonly continueAgeMaxMs: number;
  /** The most ring events that are undone to build the state of a past revision. */
  readonly undoEventsMax: number;
  /** Frames that may wait for one watcher's reader. */
  readonly watcherQueueFramesMax: number;
  readonly watcherQueueBytesMax: number;
  /** The same of all watchers together; what several are to receive counts once. */
  readonly watcherQueuesBytesMax: number;
  /** A watcher that asked for bookmarks gets one at least this often. */
  readonly bookmarkIntervalMs: number;
  /** Frames wait at most this long to leave together. */
  readonly coalesceMaxMs: number;
  /** Streams that read history from the store at the same time. */
  readonly historyStreamsMax: number;
  /** While others wait: how long one of them may read, and how long it may wait for its own reader, before they have their turn. */
  readonly historyTurnMsMax: number;
  readonly historyPauseMsMax: number;
  readonly fillPageRecords: number;
  readonly readIndexTimeoutMs: number;
  readonly retryDelayMinMs: number;
  readonly retryDelayMaxMs: number;
  /** How often old events, stale snapshots and due bookmarks are looked after. */
  readonly sweepIntervalMs: number;
  /** How often every resource is compared with the store; 0 is never. */
  readonly checkIntervalMs: number;
}

const MEBIBYTE = 1024 * 1024;

export const DEFAULT_LIMITS: CacheLimits = {
  ringWindowMs: 5 * 60_000,
  ringEventsMax: 200_000,
  ringBytesMax: 64 * MEBIBYTE,
  derivedBytesMax: 128 * MEBIBYTE,
  snapshotBytesMax: 64 * MEBIBYTE,
  snapshotAgeMaxMs: 5 * 60_000,
  continueAgeMaxMs: 5 * 60_000,
  undoEventsMax: 5_000,
  watcherQueueFramesMax: 4_096,
  watcherQueueBytesMax: 16 * MEBIBYTE,
  watcherQueuesBytesMax: 256 * MEBIBYTE,
  bookmarkIntervalMs: 50_000,
  coalesceMaxMs: 20,
  historyStreamsMax: 8,
  historyTurnMsMax: 5_000,
  historyPauseMsMax: 250,
  fillPageRecords: 500,
  readIndexTimeoutMs: 3_000,
  retryDelayMinMs: 100,
  retryDelayMaxMs: 5_000,
  sweepIntervalMs: 5_000,
  checkIntervalMs: 5 * 60_000,
};
