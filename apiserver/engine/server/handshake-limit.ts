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
  /** Handshakes for each address. */
  readonly rate: Rate;
  readonly counts: Pick<ConnectionCounts, 'handshakesRefused'>;
  readonly log: Log;
}

/** A log line says so once in this time, however many there are. */
const LOG_MS_MIN = 10_000;

/** One address, or network. */
interface Source {
  readonly bucket: TokenBucket;
  /** Connections that are not through with their handshake. */
  readonly underWay: Set<Socket>;
}

/**
 * Closes connections before their TLS handshake, the most that somebody without any credential can make the server compute, when too many come
 * from their address. A handshake that has cost more counts for more; when an address is in debt by that, its others that are under way end. To
 * be called before others listen for connections of the server.
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
  // The handshake begins in a listener of Node's own, which must not hear of a connection that is refused.
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
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

/** Two connections of one client at the same time differ in it. */
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

/** Who counts as one: an IPv4 address, however it is written, or an IPv6 network of 64 bits, of which every host has one. */
export function sourceOf(remoteAddress: string | undefined): string {
  // Undefined when the client has left already.
  if (remoteAddress === undefined) return '';
  const address = parse(remoteAddress);
  if (!(address instanceof IPv6)) return address.toString();
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString();
  return address.parts.slice(0, NETWORK_PARTS).join(':');
}
