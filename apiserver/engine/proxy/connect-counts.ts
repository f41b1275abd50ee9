/** Counters of connections to other servers, to which requests of clients are proxied. */
export interface ConnectCounts {
  /** Open connections by purpose: `exec`, `proxy`, `apiservice`. */
  readonly open: Map<string, number>;
  /** All connections since the start, by purpose. */
  readonly opened: Map<string, number>;
  /** Requests refused because of the connection limit. */
  refused: number;
}

export function newConnectCounts(): ConnectCounts {
  return { open: new Map(), opened: new Map(), refused: 0 };
}

/** Returns the number of open connections. */
export function openConnections({ open }: Pick<ConnectCounts, 'open'>): number {
  let sum = 0;
  for (const count of open.values()) sum += count;
  return sum;
}

/** Counts a connection as open until the returned function is called. */
export function countOpened({ open, opened }: ConnectCounts, purpose: string): () => void {
  open.set(purpose, (open.get(purpose) ?? 0) + 1);
  opened.set(purpose, (opened.get(purpose) ?? 0) + 1);
  return () => {
    open.set(purpose, (open.get(purpose) ?? 0) - 1);
  };
}
