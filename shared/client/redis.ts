import { readFileSync } from 'node:fs';
import type { TLSSocket } from 'node:tls';
import { AbstractConnector, Redis } from 'ioredis';
import { defined } from '../defined';
import { openTls } from './connect-tls';

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
  const ca = caFile === undefined ? undefined : readFileSync(caFile, 'utf8');
  const isTls = ca !== undefined || url.startsWith('rediss:');
  const redis = new Redis(url, {
    // A request that cannot be sent now is useless later.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CALL_MS_MAX,
    commandTimeout: CALL_MS_MAX,
    disconnectTimeout: CALL_MS_MAX,
    retryStrategy: (attempt) => Math.min(attempt * 100, RECONNECT_MS_MAX),
    ...(isTls ? { tls: {}, Connector: connectorWith(ca) } : {}),
  });
  // Failed calls report the error; without a listener it would end the process.
  redis.on('error', () => undefined);
  return redis;
}

/** The options of ioredis that come from the URL. */
interface RedisPlace {
  readonly host?: string;
  readonly port?: number;
  readonly disconnectTimeout: number;
}

/** Connects only to a verified server. */
function connectorWith(ca: string | undefined): new (place: unknown) => AbstractConnector {
  return class extends AbstractConnector {
    readonly #place: RedisPlace;

    constructor(place: unknown) {
      super((place as RedisPlace).disconnectTimeout);
      this.#place = place as RedisPlace;
    }

    /** Resolves with a destroyed stream after a failure, because ioredis retries then, and never after a rejection. */
    async connect(): Promise<TLSSocket> {
      this.connecting = true;
      const { host = 'localhost', port = 6_379 } = this.#place;
      const { socket, verified } = openTls({ host, port, ...defined({ ca }) });
      this.stream = socket;
      const timer = setTimeout(() => socket.destroy(new Error('connect ETIMEDOUT')), CALL_MS_MAX);
      try {
        await verified;
      } catch (error) {
        // ioredis reports it for a destroyed stream.
        this.firstError = error as Error;
      } finally {
        clearTimeout(timer);
      }
      return socket;
    }
  };
}
