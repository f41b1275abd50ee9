import type { Server, Socket } from 'node:net';
import { monotonicClock } from '../../../shared/concurrency/monotonic-clock';
import type { Rate } from '../../../shared/concurrency/token-bucket';
import type { Log } from '../../../shared/log/log';
import type { ConnectionCounts } from './connection-counts';
import { descriptorShares } from '../request/descriptors';
import { limitHandshakes, sourceOf } from './handshake-limit';

export interface ConnectionLimitOptions {
  /** Of all addresses together. */
  readonly max: number;
  /** Of one IPv4 address or IPv6 network of 64 bits. */
  readonly perSourceMax: number;
  readonly counts: Pick<ConnectionCounts, 'connectionsRefused'>;
  readonly log: Log;
}

/** The limits of one listener. */
export interface ClientLimits extends Omit<ConnectionLimitOptions, 'max' | 'perSourceMax' | 'counts'> {
  /** Of TLS handshakes per address; undefined: unlimited. */
  readonly rate: Rate | undefined;
  /** Open connections; undefined: what the process may open, less a reserve. */
  readonly max: number | undefined;
  readonly counts: Pick<ConnectionCounts, 'connectionsRefused' | 'handshakesRefused'>;
}

/**
 * Limits handshakes and open connections for each client address. Without a rate of handshakes, a load balancer may
 * hide the addresses of clients, and there is no limit for one address.
 */
export function limitClients(server: Server, { rate, max, counts, log }: ClientLimits): void {
  if (rate !== undefined) limitHandshakes(server, { rate, log, counts });
  const connectionsMax = max ?? descriptorShares().clients;
  const perSourceMax = rate === undefined ? connectionsMax : connectionsMax / 2;
  limitConnections(server, { max: connectionsMax, perSourceMax, log, counts });
}

/** At most one log line in this time. */
const LOG_MS_MIN = 10_000;

/**
 * Limits the open connections for each client address and in all, so that clients cannot take all descriptors of the
 * process. When all are taken, the newest connection of the address with the most gives way to an address below its
 * fair share. Call it before other listeners for connections are added.
 */
export function limitConnections(
  server: Server,
  { max, perSourceMax, counts, log }: ConnectionLimitOptions,
): void {
  const sources = new Map<string, Set<Socket>>();
  let open = 0;
  let loggedAt = -Infinity;
  const remove = (source: string, socket: Socket): void => {
    const own = sources.get(source);
    if (own?.delete(socket) !== true) return;
    open -= 1;
    if (own.size === 0) sources.delete(source);
  };
  const refuse = (source: string, socket: Socket): void => {
    counts.connectionsRefused += 1;
    remove(source, socket);
    socket.destroy();
    const now = monotonicClock.now();
    if (now - loggedAt < LOG_MS_MIN) return;
    loggedAt = now;
    log.warn({ source, open }, 'too many open connections; closing one of the address that has the most');
  };
  const hasRoom = (source: string): boolean => {
    const own = sources.get(source)?.size ?? 0;
    if (own >= perSourceMax) return false;
    if (open < max) return true;
    if (own >= max / (sources.size + (own === 0 ? 1 : 0))) return false;
    const [largest = '', sockets = new Set<Socket>()] = largestOf(sources) ?? [];
    const newest = [...sockets].at(-1);
    if (newest === undefined) return false;
    refuse(largest, newest);
    return true;
  };
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const source = sourceOf(socket.remoteAddress);
    if (!hasRoom(source)) {
      refuse(source, socket);
      return;
    }
    const own = sources.get(source) ?? new Set();
    sources.set(source, own.add(socket));
    open += 1;
    socket.once('close', () => {
      remove(source, socket);
    });
    for (const listener of begin) Reflect.apply(listener, server, [socket]);
  });
}

function largestOf(
  sources: ReadonlyMap<string, Set<Socket>>,
): readonly [string, ReadonlySet<Socket>] | undefined {
  let largest: readonly [string, ReadonlySet<Socket>] | undefined;
  for (const each of sources) if (each[1].size > (largest?.[1].size ?? 0)) largest = each;
  return largest;
}
