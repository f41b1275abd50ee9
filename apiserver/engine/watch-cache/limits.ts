/** Bounds of the watch cache. Byte budgets are shared by all resources of a replica; the oldest data is dropped first. */
export interface CacheLimits {
  /** How long an event stays in the ring buffer, unless the byte or event bounds are reached. */
  readonly ringWindowMs: number;
  /** Per resource. */
  readonly ringEventsMax: number;
  /** Bytes of past states that are referenced by ring buffers only. */
  readonly ringBytesMax: number;
  /** Bytes of frames and other encodings made from events. */
  readonly derivedBytesMax: number;
  /** Bytes that are referenced by retained snapshots only. */
  readonly snapshotBytesMax: number;
  readonly snapshotAgeMaxMs: number;
  /** How long a paginated list can be continued. */
  readonly continueAgeMaxMs: number;
  /** Maximum number of events that are undone to rebuild the state of a past revision. */
  readonly undoEventsMax: number;
  /** Maximum length of the queue of one watcher; beyond it the watcher is evicted. */
  readonly watcherQueueFramesMax: number;
  readonly watcherQueueBytesMax: number;
  /** Bytes of the queues of all watchers together; a shared frame counts once. */
  readonly watcherQueuesBytesMax: number;
  /** Interval of bookmarks, for watchers that requested them. */
  readonly bookmarkIntervalMs: number;
  /** Frames are held back at most this long, to be flushed together. */
  readonly coalesceMaxMs: number;
  /** Number of streams that read history from the store concurrently. */
  readonly historyStreamsMax: number;
  /** While others wait: how long one stream may read, and how long it may wait for its own reader, before it loses its slot. */
  readonly historyTurnMsMax: number;
  readonly historyPauseMsMax: number;
  readonly fillPageRecords: number;
  readonly readIndexTimeoutMs: number;
  readonly retryDelayMinMs: number;
  readonly retryDelayMaxMs: number;
  /** Interval of the sweep that drops old events and snapshots and sends due bookmarks. */
  readonly sweepIntervalMs: number;
  /** Interval of the consistency check against the store; 0 disables it. */
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
