/** Connections to other servers that requests of clients go on to. */
export interface ConnectCounts {
  /** Those that are open now, by what they are for: `exec`, `proxy`, `apiservice`. */
  readonly open: Map<string, number>;
  /** All there were. */
  readonly opened: Map<string, number>;
  /** Requests for which there was no room. */
  refused: number;
}

export function newConnectCounts(): ConnectCounts {
  return { open: new Map(), opened: new Map(), refused: 0 };
}

/** How many are open now, whatever they are for. */
export function openConnections({ open }: Pick<ConnectCounts, 'open'>): number {
  let sum = 0;
  for (const count of open.values()) sum += count;
  return sum;
}

export function countOpened({ open, opened }: ConnectCounts, purpose: string): () => void {
  open.set(purpose, (open.get(purpose) ?? 0) + 1);
  opened.set(purpose, (opened.get(purpose) ?? 0) + 1);
  return () => {
    open.set(purpose, (open.get(purpose) ?? 0) - 1);
  };
}
