import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';

export interface RedisOptions {
  /** `rediss://…`, or `redis://…` without TLS; may hold a user and a password. */
  readonly url: string;
  /** The certificate authorities of the server, PEM. Undefined: those of this machine. */
  readonly caFile: string | undefined;
}

const CALL_MS_MAX = 800;
const RECONNECT_MS_MAX = 2_000;

/**
 * Opens a connection that reconnects until it is closed. A call rejects at once while disconnected, and after 0.8 s. Throws if the file
 * cannot be read.
 */
export function openRedis({ url, caFile }: RedisOptions): Redis {
  const redis = new Redis(url, {
    // A request that cannot be sent now is useless later.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CALL_MS_MAX,
    commandTimeout: CALL_MS_MAX,
    retryStrategy: (attempt) => Math.min(attempt * 100, RECONNECT_MS_MAX),
    ...(caFile === undefined ? {} : { tls: { ca: readFileSync(caFile, 'utf8') } }),
  });
  // Failed calls report the error; without a listener it would end the process.
  redis.on('error', () => undefined);
  return redis;
}
