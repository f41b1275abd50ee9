/** Counters of offloaded requests, for metrics. */
export interface OffloadCounts {
  /** Requests that a worker has started. */
  begun: number;
  /** Requests refused because the queue was full. */
  refused: number;
  /** Workers that were started. */
  threads: number;
  /** Workers that were terminated because they hung. */
  lost: number;
}

export function newOffloadCounts(): OffloadCounts {
  return { begun: 0, refused: 0, threads: 0, lost: 0 };
}
