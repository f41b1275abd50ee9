import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { KEY_EXCHANGE_GROUPS } from '../../../shared/certs/key-exchange';
import { listenHost } from '../../../shared/certs/serving-hosts';
import type { Log } from '../../../shared/log/log';
import type { AccessRequest, AccessDecision } from './access';
import type { ServingCertificate } from './serving-certificate';
import type { Metrics } from './metrics';

export interface ListenerOptions {
  readonly bindAddress: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** Returns the current certificate. Throws if there is none. */
  readonly certificate: () => ServingCertificate;
  /** Polling interval of the certificate, in milliseconds. */
  readonly certificatePollMs?: number;
  readonly access: (request: AccessRequest) => Promise<AccessDecision>;
  readonly metrics: Pick<Metrics, 'contentType' | 'exposition'>;
  readonly log: Log;
}

export interface Listener {
  readonly port: number;
  /** Closes all connections. */
  close(): void;
}

/** Thrown when the address cannot be used. */
export class ListenerError extends Error {
  /** True if another process uses the port. */
  readonly isTaken: boolean;

  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'ListenerError';
    this.isTaken = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE';
  }
}

/** The few clients of a process are scrapers and probes. */
const CONNECTIONS_MAX = 128;
const HEADER_BYTES_MAX = 16 * 1_024;
/** Time limit for a request to arrive and for a handshake, in milliseconds. */
const ARRIVAL_MS_MAX = 10_000;
const KEEP_ALIVE_MS = 60_000;
/** Time limit for a client to read a response, in milliseconds. */
const SOCKET_IDLE_MS_MAX = 90_000;
const CERTIFICATE_POLL_MS = 60_000;
const HANDSHAKE = { minVersion: 'TLSv1.2', ecdhCurve: KEY_EXCHANGE_GROUPS } as const;
const TEXT = 'text/plain; charset=utf-8';

/**
 * Serves `/healthz` and `/metrics` over TLS. Throws ListenerError for an unusable address, and errors of `certificate`. An unusable
 * renewed certificate is logged, and the old one stays in use.
 */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { bindAddress, port, log } = options;
  let shown = options.certificate();
  const server = createServer(
    {
      ...shown,
      ...HANDSHAKE,
      handshakeTimeout: ARRIVAL_MS_MAX,
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: ARRIVAL_MS_MAX,
      requestTimeout: ARRIVAL_MS_MAX,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    (request, response) => {
      answer(options, request, response).catch((error: unknown) => {
        log.warn({ error }, 'request failed');
        response.destroy();
      });
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  // Node's own list lacks sockets whose handshake has not finished.
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.setTimeout(SOCKET_IDLE_MS_MAX);
  await listen(server, bindAddress, port);
  server.on('error', (error) => log.warn({ error }, 'failed to accept a connection'));
  let reported = '';
  const timer = setInterval(() => {
    try {
      const now = options.certificate();
      if (now.cert !== shown.cert || now.key !== shown.key) {
        server.setSecureContext({ ...now, ...HANDSHAKE });
        shown = now;
        log.info({}, 'serving certificate reloaded');
      }
      reported = '';
    } catch (error) {
      if (reported === String(error)) return;
      reported = String(error);
      log.warn({ error }, 'failed to reload the serving certificate; the old one stays in use');
    }
  }, options.certificatePollMs ?? CERTIFICATE_POLL_MS).unref();
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      clearInterval(timer);
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    const listening = once(server, 'listening');
    server.listen({ host: listenHost(host), port });
    await listening;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ListenerError(`--secure-port ${String(port)} cannot be had: ${why}`, error);
  }
}

async function answer(
  { access, metrics }: ListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  request.resume();
  const verb = (request.method ?? '').toLowerCase();
  const path = (request.url ?? '').split('?')[0] ?? '';
  const { code, message } = await access({ verb, path, token: bearerOf(request) });
  if (code !== 200) send(response, code, message);
  else if (verb !== 'get' && verb !== 'head') send(response, 405, 'Method Not Allowed');
  else if (path === '/healthz') send(response, 200, 'ok');
  else if (path === '/metrics') {
    response.writeHead(200, { 'Content-Type': metrics.contentType }).end(await metrics.exposition());
  } else send(response, 404, 'Not Found');
}

function send(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, { 'Content-Type': TEXT, 'X-Content-Type-Options': 'nosniff' }).end(text);
}

function bearerOf({ headers }: IncomingMessage): string {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}
