import { ConnectionPlaces } from './connection-places';
import { connectionsMax } from './limits';

/** Counters of connections to other servers, to which requests of clients are proxied. */
export interface ConnectCounts {
  /** Open connections by purpose: `exec`, `proxy`, `apiservice`. */
  readonly open: Map<string, number>;
  /** All connections since the start, by purpose. */
  readonly opened: Map<string, number>;
  /** Limits the requests that are proxied at a time. */
  readonly places: ConnectionPlaces;
  /** Requests refused because of that limit. */
  refused: number;
}

/** `inFlightBytesMax` is the memory for requests in flight, of which connections take a part. */
export function newConnectCounts(inFlightBytesMax = Infinity): ConnectCounts {
  const places = new ConnectionPlaces(connectionsMax(inFlightBytesMax));
  return { open: new Map(), opened: new Map(), places, refused: 0 };
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
