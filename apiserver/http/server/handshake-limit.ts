import type { Server, Socket } from 'node:net';
import { IPv6, parse } from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { monotonicClock } from '../../../shared/concurrency/monotonic-clock';
import type { Rate } from '../../../shared/concurrency/token-bucket';
import { TokenBucket } from '../../../shared/concurrency/token-bucket';
import type { Log } from '../../../shared/log/log';
import type { ConnectionCounts } from './connection-counts';
import { ADDRESSES_MAX } from './limits';

export interface HandshakeLimitOptions {
  /** Handshakes for each address. */
  readonly rate: Rate;
  readonly counts: Pick<ConnectionCounts, 'handshakesRefused'>;
  readonly log: Log;
}

/** A log line says so once in this time, however many there are. */
const LOG_MS_MIN = 10_000;

/**
 * Closes connections before their TLS handshake, the most that somebody without any credential can make the server compute, when too many come
 * from their address. To be called before others listen for connections of the server.
 */
export function limitHandshakes(server: Server, { rate, counts, log }: HandshakeLimitOptions): void {
  const buckets = new LRUCache<string, TokenBucket>({ max: ADDRESSES_MAX });
  let loggedAt = -Infinity;
  const isAdmitted = (source: string): boolean => {
    const bucket = buckets.get(source) ?? new TokenBucket(rate, monotonicClock);
    buckets.set(source, bucket);
    return bucket.take() === 0;
  };
  // The handshake begins in a listener of Node's own, which must not hear of a connection that is refused.
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const source = sourceOf(socket.remoteAddress);
    if (isAdmitted(source)) {
      for (const listener of begin) Reflect.apply(listener, server, [socket]);
      return;
    }
    counts.handshakesRefused += 1;
    socket.destroy();
    const now = monotonicClock.now();
    if (now - loggedAt < LOG_MS_MIN) return;
    loggedAt = now;
    log.warn({ source }, 'too many TLS handshakes from one address; closing connections before theirs');
  });
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
