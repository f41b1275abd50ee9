import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { IPv6, parse } from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { monotonicClock } from '../../../shared/concurrency/monotonic-clock';
import type { Rate } from '../../../shared/concurrency/token-bucket';
import { TokenBucket } from '../../../shared/concurrency/token-bucket';
import type { Log } from '../../../shared/log/log';
import type { ConnectionCounts } from './connection-counts';
import { priceOf, priceOfFailure } from './handshake-price';
import { ADDRESSES_MAX } from './limits';

export interface HandshakeLimitOptions {
  /** Handshakes per client address. */
  readonly rate: Rate;
  readonly counts: Pick<ConnectionCounts, 'handshakesRefused'>;
  readonly log: Log;
}

/** At most one log line in this time. */
const LOG_MS_MIN = 10_000;

/** One client address or network. */
interface Source {
  readonly bucket: TokenBucket;
  /** Connections whose handshake is not complete. */
  readonly underWay: Set<Socket>;
}

/**
 * Rate-limits TLS handshakes per client address, against denial of service: a handshake is the most expensive work
 * that a client without credentials can cause. Connections over the limit are closed before the handshake. An
 * expensive handshake counts more; when an address is in debt, its other pending handshakes are closed. Call it
 * before other listeners for connections are added.
 */
export function limitHandshakes(server: Server, { rate, counts, log }: HandshakeLimitOptions): void {
  const sources = new LRUCache<string, Source>({ max: ADDRESSES_MAX });
  const connections = new Map<string, Connection>();
  const refused = createRefusal({ counts, log });
  const charge = (source: string, price: number): void => {
    const known = sources.get(source);
    if (price === 0 || known?.bucket.charge(price) !== true) return;
    for (const socket of known.underWay) refused(socket, source);
  };
  // Node starts the handshake in its own listener, which must not see a refused connection.
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    // The client has already disconnected: all such clients would share one bucket.
    if (socket.remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    const source = sourceOf(socket.remoteAddress);
    const known = sources.get(source) ?? {
      bucket: new TokenBucket(rate, monotonicClock),
      underWay: new Set<Socket>(),
    };
    sources.set(source, known);
    if (known.bucket.take() > 0) {
      refused(socket, source);
      return;
    }
    const { underWay } = known;
    underWay.add(socket);
    const id = idOf(socket);
    const over = (price: (bytesRead: number) => number): void => {
      connections.delete(id);
      if (underWay.delete(socket)) charge(source, price(socket.bytesRead));
    };
    connections.set(id, { over });
    socket.once('close', () => over(priceOfFailure));
    for (const listener of begin) Reflect.apply(listener, server, [socket]);
  });
  server.prependListener('secureConnection', (secured: TLSSocket) => {
    connections.get(idOf(secured))?.over((bytesRead) => priceOf(secured, bytesRead));
  });
}

interface Connection {
  readonly over: (price: (bytesRead: number) => number) => void;
}

/** Identifies a connection: two open connections of a client differ in the port. */
function idOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${String(remotePort)}`;
}

function createRefusal({
  counts,
  log,
}: Pick<HandshakeLimitOptions, 'counts' | 'log'>): (socket: Socket, source: string) => void {
  let loggedAt = -Infinity;
  return (socket, source) => {
    counts.handshakesRefused += 1;
    socket.destroy();
    const now = monotonicClock.now();
    if (now - loggedAt < LOG_MS_MIN) return;
    loggedAt = now;
    log.warn({ source }, 'too many TLS handshakes from one address; closing connections before theirs');
  };
}

const NETWORK_PARTS = 4;

/**
 * Returns the key of a client for rate limiting: its IPv4 address, or its IPv6 network of 64 bits, which every host
 * controls as a whole.
 */
export function sourceOf(remoteAddress: string | undefined): string {
  // Undefined if the client has already disconnected.
  if (remoteAddress === undefined) return '';
  const address = parse(remoteAddress);
  if (!(address instanceof IPv6)) return address.toString();
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString();
  return address.parts.slice(0, NETWORK_PARTS).join(':');
}
