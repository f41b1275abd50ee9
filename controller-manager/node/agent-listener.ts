import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { issueCertificate, makeCa } from '../../shared/certs/certificate';
import { listenHost } from '../../shared/certs/serving-hosts';
import type { Clock } from '../../shared/concurrency/clock';
import { systemClock } from '../../shared/concurrency/clock';
import type { Log } from '../../shared/log/log';
import type { FrontProxy } from './metrics-service';
import type { MetricsSources } from './resource-metrics';
import { answerMetrics } from './resource-metrics';
import { ListenerError } from '../runtime/serving/listener';

export interface AgentListenerOptions {
  readonly bindAddress: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** The names for which the certificate is valid. */
  readonly hosts: readonly string[];
  readonly sources: () => MetricsSources | undefined;
  readonly log: Log;
  readonly clock?: Clock;
}

/** The listener of logs, exec and metrics. */
export interface AgentListener {
  readonly port: number;
  /** The certificate of its authority, as PEM. */
  readonly caPem: string;
  /** Serves metrics to API servers that show a certificate of this authority, and to no other client. */
  trust(proxy: FrontProxy): void;
  close(): void;
}

const VALID_DAYS = 3_650;
const CONNECTIONS_MAX = 256;
const HEADER_BYTES_MAX = 16 * 1_024;
const ARRIVAL_MS_MAX = 10_000;
const SOCKET_IDLE_MS_MAX = 90_000;
/** Only the path and the query of requests matter. */
const BASE = 'https://node';
/** Paths of a kubelet that need a running container. */
const OF_CONTAINER =
  /^\/(?:containerLogs|exec|attach|run|cri)\/([^/]+)\/([^/]+)|^\/portForward\/([^/]+)\/([^/]+)/u;

/** Opens the listener. It has nothing secret but metrics, which only API servers may read. Throws ListenerError for an unusable address. */
export async function openAgentListener(options: AgentListenerOptions): Promise<AgentListener> {
  const { bindAddress, port, hosts, log, clock = systemClock } = options;
  const ca = makeCa({ commonName: 'orch-node-ca', validDays: VALID_DAYS });
  const leaf = issueCertificate(ca, {
    commonName: 'orch-node',
    hosts,
    usages: ['server'],
    validDays: VALID_DAYS,
  });
  const pair = { cert: leaf.certificatePem, key: leaf.privateKeyPem };
  let proxy: FrontProxy | undefined;
  const server = createServer(
    {
      ...pair,
      minVersion: 'TLSv1.2',
      requestCert: true,
      // Whether a client certificate is needed depends on the path.
      rejectUnauthorized: false,
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: ARRIVAL_MS_MAX,
      requestTimeout: ARRIVAL_MS_MAX,
      handshakeTimeout: ARRIVAL_MS_MAX,
    },
    (request, response) => {
      request.resume();
      const isProxy = proxy !== undefined && isFrontProxy(request.socket as TLSSocket, proxy);
      answer(request, response, {
        sources: isProxy ? options.sources() : undefined,
        isProxy,
        nowMs: clock.now(),
      });
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  server.setTimeout(SOCKET_IDLE_MS_MAX);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // Without a listener Node would close the connection of `kubectl exec` without a word.
  server.on('upgrade', (request, socket) => {
    const text = `${runsNothing(request.url ?? '') ?? 'Not Found'}\n`;
    socket.end(
      `HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${String(Buffer.byteLength(text))}\r\nConnection: close\r\n\r\n${text}`,
    );
  });
  await listen(server, bindAddress, port);
  server.on('error', (error) => log.warn({ error }, 'failed to accept a connection'));
  return {
    port: (server.address() as AddressInfo).port,
    caPem: ca.certificatePem,
    trust: (trusted) => {
      proxy = trusted;
      server.setSecureContext({ ...pair, ca: trusted.caPem });
    },
    close: () => {
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
    throw new ListenerError(`--port ${String(port)} cannot be had: ${why}`, error);
  }
}

function isFrontProxy(socket: TLSSocket, { allowedNames }: FrontProxy): boolean {
  if (!socket.authorized) return false;
  const { CN } = socket.getPeerCertificate().subject;
  return allowedNames.length === 0 || allowedNames.includes(String(CN));
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  {
    sources,
    isProxy,
    nowMs,
  }: { readonly sources: MetricsSources | undefined; readonly isProxy: boolean; readonly nowMs: number },
): void {
  const send = (code: number, text: string): void => {
    response.writeHead(code, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
  };
  const target = request.url ?? '/';
  if (!URL.canParse(target, BASE)) {
    send(400, 'Bad Request');
    return;
  }
  const url = new URL(target, BASE);
  const refusal = runsNothing(url.pathname);
  if (refusal !== undefined) send(400, refusal);
  else if (url.pathname === '/healthz') send(200, 'ok');
  else if (!url.pathname.startsWith('/apis')) send(404, 'Not Found');
  else if (!isProxy) send(401, 'Unauthorized: metrics are read through the API server');
  else if (sources === undefined) send(503, 'Service Unavailable: not synced yet');
  else if (request.method !== 'GET') send(405, 'Method Not Allowed');
  else {
    const metrics = answerMetrics(url, sources, nowMs);
    if (metrics === undefined) send(404, 'Not Found');
    else
      response
        .writeHead(metrics.code, { 'Content-Type': 'application/json' })
        .end(JSON.stringify(metrics.body));
  }
}

/** Returns the sentence for a path that needs a running container. */
function runsNothing(path: string): string | undefined {
  const [, namespace, name, otherNamespace, otherName] = OF_CONTAINER.exec(path) ?? [];
  if (name === undefined && otherName === undefined) return undefined;
  const pod = `${namespace ?? otherNamespace ?? ''}/${name ?? otherName ?? ''}`;
  return `pod ${pod} is on a stand-in node, which reports pods by rules and runs no containers, so that there are no logs and nothing to connect to`;
}
