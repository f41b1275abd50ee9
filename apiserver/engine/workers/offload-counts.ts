/** What metrics show of large requests. */
export interface OffloadCounts {
  /** Requests that were handed to the thread. */
  begun: number;
  /** Requests that were refused because too many wait. */
  refused: number;
  /** Threads that were begun. */
  threads: number;
  /** Threads that were ended because they did not answer. */
  lost: number;
}

export function newOffloadCounts(): OffloadCounts {
  return { begun: 0, refused: 0, threads: 0, lost: 0 };
}
