import { once } from 'node:events';
import { ServerResponse } from 'node:http';
import type { Server as NodeHttpsServer } from 'node:https';
import { createServer as createHttpsServer } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { listenHost } from '../../../shared/certs/serving-hosts';
import { sleep } from '../../../shared/concurrency/abort';
import { serviceUnavailable } from '../../../shared/errors/status-error';
import type { Rate } from '../../../shared/concurrency/token-bucket';
import type { AllowsAddress } from '../../../shared/meta/ip-address';
import type { BrowserRules } from './browser-rules';
import type { ConnectionCounts } from './connection-counts';
import { newConnectionCounts } from './connection-counts';
import { limitClients } from './connection-limit';
import { ListenerRequest } from './listener-request';
import type { RequestMemory } from './held-bytes';
import { createRequestMemory } from './held-bytes';
import type { Http2Settings } from './http2-sessions';
import { ALPN_PROTOCOLS, Http2Sessions } from './http2-sessions';
import * as limits from './limits';
import { refuseMalformed } from './malformed';
import { acceptProxyHeaders } from './proxy-protocol';
import { readPeerCertificates } from './peer-certificates';
import { detachNativeParser } from './detach-native-parser';
import { Pipelines } from './pipelines';
import type { HandlerOptions, InFlight, Pipeline } from './request-handler';
import { handleRequest } from './request-handler';
import { SlowReaders } from './slow-readers';
import type { TlsSettings } from './tls-contexts';
import { TlsContexts } from './tls-contexts';
import { responseOnSocket } from './upgrade';

export interface ServerSettings extends TlsSettings {
  readonly bindAddress: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Rate limit of TLS handshakes per client address. Absent: no limit. */
  readonly handshakes?: Rate | undefined;
  /** Which peers are load balancers, whose connections begin with a PROXY header. Absent: none. */
  readonly isBalancer?: AllowsAddress | undefined;
  readonly pipeline: Pipeline;
  /** Absent: HTTP/2 is not offered. */
  readonly http2?: Http2Settings | undefined;
  /** Headers for browsers. Undefined: none. */
  readonly browsers?: BrowserRules | undefined;
  /** Kept up to date by the server. */
  readonly counts?: ConnectionCounts;
  /** Called first when the server closes: readiness fails from then on. */
  readonly onShutdown?: () => void;
  /**
   * Ends all watches, spread over a time in milliseconds. Called when the shutdown starts, with the time for which
   * the server still serves, and again when it stops accepting; then no new watch may start.
   */
  readonly endWatches?: (how: { readonly spreadMs: number; readonly refuseNew: boolean }) => Promise<void>;
  /** Poll interval of the certificate files. */
  readonly certificatePollMs?: number;
  /** Counts bodies and answers. Absent: own counters with the default limits. */
  readonly memory?: RequestMemory;
  /** Open connections; by default what the process may open, less a reserve. */
  readonly connectionsMax?: number;
  /** Time for a whole request to arrive. */
  readonly arrivalMsMax?: number;
  /** Time after which a client that does not read its answer is disconnected. */
  readonly stallMsMax?: number;
}

export interface CloseOptions {
  /** How long to keep serving while readiness fails, so that load balancers stop sending clients. */
  readonly delayMs: number;
  /** How long requests in flight may take after that; then they are aborted. */
  readonly graceMs: number;
  /** The time over which watches end, once nothing is accepted any more. Absent: half a second. */
  readonly spreadMs?: number;
}

export interface Server {
  /** Resolves when connections are accepted. Rejects when the certificate or the port cannot be used. */
  listen(): Promise<{ readonly address: string; readonly port: number }>;
  /** Graceful shutdown: drains and stops. Further calls wait for the first. Never rejects. */
  close(options: CloseOptions): Promise<void>;
  /** The number of requests in flight, watches included. */
  inFlight(): number;
}

/**
 * Creates the HTTPS listener: HTTP/1.1 with keep-alive, HTTP/2 if enabled, and upgrades. All requests go through the
 * same pipeline.
 */
export function createServer(settings: ServerSettings): Server {
  return new HttpsServer(settings);
}

class HttpsServer implements Server {
  readonly #settings: ServerSettings;
  readonly #forRequests: HandlerOptions;
  readonly #forUpgrades: HandlerOptions;
  readonly #exchanges: InFlight = new Map();
  readonly #counts: ConnectionCounts;
  readonly #pipelines: Pipelines;
  readonly #slowReaders: SlowReaders;
  readonly #sockets = new Set<Socket>();
  /** Connections that end after the current answer. */
  readonly #ending = new WeakSet<Duplex>();
  readonly #http2: Http2Sessions | undefined;
  #https: NodeHttpsServer | undefined = undefined;
  #stopWatchingCertificates: () => void = () => undefined;
  /** The shutdown has started; the server still serves. */
  #isLeaving = false;
  /** Answers close their connections: no new connections are accepted, now or soon. */
  #isDraining = false;
  #onIdle: () => void = () => undefined;
  #closing: Promise<void> | undefined = undefined;

  constructor(settings: ServerSettings) {
    this.#settings = settings;
    const { counts = newConnectionCounts() } = settings;
    this.#counts = counts;
    this.#pipelines = new Pipelines({ counts, endAfterAnswer: (socket) => this.#endAfterAnswer(socket) });
    this.#forRequests = {
      pipeline: settings.pipeline,
      log: settings.log,
      inFlight: this.#exchanges,
      onRemoved: () => {
        if (this.#isIdle()) this.#onIdle();
      },
      upgrade: false,
      isLeaving: () => this.#isLeaving,
      stallMsMax: settings.stallMsMax ?? limits.STALL_MS_MAX,
      memory: settings.memory ?? createRequestMemory(),
      counts,
      browsers: settings.browsers,
    };
    this.#slowReaders = new SlowReaders(this.#forRequests);
    this.#forUpgrades = { ...this.#forRequests, upgrade: true };
    this.#http2 = settings.http2 === undefined ? undefined : this.#http2Of(settings.http2);
  }

  #http2Of(http2: Http2Settings): Http2Sessions {
    const { arrivalMsMax = limits.REQUEST_ARRIVAL_MS_MAX } = this.#settings;
    return new Http2Sessions({
      ...this.#forRequests,
      ...http2,
      arrivalMsMax,
      random: () => Math.random(),
      handle: (request, response) => void handleRequest(request, response, this.#forRequests),
      isDraining: () => this.#isDraining,
    });
  }

  async listen(): Promise<{ readonly address: string; readonly port: number }> {
    const { bindAddress, port, certificatePollMs = limits.CERTIFICATE_POLL_MS, log } = this.#settings;
    const tls = await TlsContexts.open({ ...this.#settings, certificatePollMs });
    const https = this.#createHttps(tls);
    this.#https = https;
    tls.onChange((context) => {
      https.setSecureContext(context);
    });
    const listening = once(https, 'listening');
    https.listen({ host: listenHost(bindAddress), port });
    await listening;
    // A failure to accept one connection, such as a lack of memory, must not end the server.
    https.on('error', (error) => log.error({ error }, 'failed to accept a connection'));
    this.#stopWatchingCertificates = () => {
      tls.stop();
    };
    this.#slowReaders.start();
    const bound = https.address();
    if (bound === null || typeof bound === 'string') throw new Error('The server has no port.');
    return { address: bound.address, port: bound.port };
  }

  inFlight(): number {
    return this.#exchanges.size;
  }

  async close(options: CloseOptions): Promise<void> {
    this.#closing ??= this.#drain(options);
    return this.#closing;
  }

  #createHttps(tls: TlsContexts): NodeHttpsServer {
    const { arrivalMsMax = limits.REQUEST_ARRIVAL_MS_MAX, clientAuthorities } = this.#settings;
    const { handshakes: rate, isBalancer, log } = this.#settings;
    const https = createHttpsServer(
      {
        ...tls.options(),
        ...(this.#http2 === undefined ? {} : { ALPNProtocols: ALPN_PROTOCOLS }),
        handshakeTimeout: limits.TLS_HANDSHAKE_MS_MAX,
        IncomingMessage: ListenerRequest,
        maxHeaderSize: limits.HEADER_BYTES_MAX,
        keepAliveTimeout: limits.KEEP_ALIVE_MS,
        headersTimeout: Math.min(limits.HEADERS_MS_MAX, arrivalMsMax),
        requestTimeout: arrivalMsMax,
        connectionsCheckingInterval: Math.min(limits.ARRIVAL_CHECK_MS, arrivalMsMax),
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: limits.TCP_KEEP_ALIVE_MS,
      },
      this.#onRequest,
    );
    this.#http2?.attach(https);
    limitClients(https, { rate, max: this.#settings.connectionsMax, log, counts: this.#counts });
    if (isBalancer !== undefined) acceptProxyHeaders(https, { isBalancer, log });
    if (clientAuthorities !== undefined) readPeerCertificates(https);
    // Node silently drops further headers, and one of them may be an impersonation header. One more than allowed is
    // enough to refuse the request.
    https.maxHeadersCount = limits.HEADER_FIELDS_MAX + 1;
    https.on('checkContinue', (request: ListenerRequest, response: ServerResponse) => {
      request.expectsContinue = true;
      this.#onRequest(request, response);
    });
    https.on('upgrade', (request: ListenerRequest, socket: Duplex, head: Buffer) => {
      request.upgradeHead = head;
      this.#upgrade(request, socket);
    });
    https.on('tlsClientError', () => {
      this.#counts.handshakesFailed += 1;
    });
    https.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      this.#refuse(error, socket);
    });
    https.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    return https;
  }

  readonly #onRequest = (request: ListenerRequest, response: ServerResponse): void => {
    // Node has just paused the socket of a client that does not read its answers.
    if (request.socket.isPaused()) detachNativeParser(request.socket);
    // A response without a socket waits for the answer to an earlier request.
    if (response.socket !== null) this.#handle(request, response);
    else this.#pipelines.hold(request, response, () => this.#handle(request, response));
  };

  #handle(request: ListenerRequest, response: ServerResponse): void {
    if (this.#isDraining) response.shouldKeepAlive = false;
    void handleRequest(request, response, this.#forRequests);
  }

  #upgrade(request: ListenerRequest, socket: Duplex): void {
    socket.on('error', () => socket.destroy());
    if (!(socket instanceof Socket)) {
      socket.destroy();
      return;
    }
    // The connection is closing; ignore further bytes.
    if (this.#ending.has(socket)) return;
    const response = responseOnSocket(request, socket);
    if (response === undefined) this.#endAfterAnswer(socket);
    else void handleRequest(request, response, this.#forUpgrades);
  }

  /**
   * Answers malformed bytes, unless an earlier request on the connection is still unanswered: then its answer is the
   * last.
   */
  #refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
    const underWay = this.#answerOn(socket);
    const isLater = underWay?.req.complete === true && error.code !== 'ECONNRESET';
    if (isLater) this.#endAfterAnswer(socket);
    else refuseMalformed(error, socket, underWay?.headersSent === true);
  }

  /** Ends the connection after the current answer, within `LAST_ANSWER_MS_MAX`. */
  #endAfterAnswer(socket: Duplex): void {
    if (this.#ending.has(socket)) return;
    this.#ending.add(socket);
    const underWay = this.#answerOn(socket);
    if (underWay !== undefined) underWay.shouldKeepAlive = false;
    const cut = setTimeout(() => socket.destroy(), limits.LAST_ANSWER_MS_MAX).unref();
    socket.once('close', () => clearTimeout(cut));
  }

  /** Finds the current response of a connection by a linear search: only abusive clients cause it. */
  #answerOn(socket: Duplex): ServerResponse | undefined {
    for (const response of this.#exchanges.keys()) {
      if (response instanceof ServerResponse && response.socket === socket) return response;
    }
    return undefined;
  }

  async #drain({ delayMs, graceMs, spreadMs = limits.WATCH_END_SPREAD_MS }: CloseOptions): Promise<void> {
    const { log, onShutdown } = this.#settings;
    onShutdown?.();
    this.#isLeaving = true;
    const never = new AbortController().signal;
    if (delayMs > 0) {
      const watchesEnd = this.#endWatches({ spreadMs: delayMs, refuseNew: false });
      await sleep(delayMs / 2, never);
      // Load balancers have noticed the failing readiness. A client that reconnects now gets another server; on a kept
      // connection, its next request would race with the close.
      this.#isDraining = true;
      this.#http2?.close();
      await sleep(delayMs / 2, never);
      await watchesEnd;
    }

    this.#isDraining = true;
    this.#stopWatchingCertificates();
    const closed = this.#stopAccepting();
    this.#http2?.close();
    for (const response of this.#exchanges.keys()) response.shouldKeepAlive = false;
    log.info({ inFlight: this.inFlight() }, 'shutting down: no new connections, draining in-flight requests');
    const watchesEnd = this.#endWatches({ spreadMs, refuseNew: true });
    const grace = AbortSignal.timeout(graceMs);
    await Promise.race([Promise.all([this.#idle(), watchesEnd]), once(grace, 'abort')]);
    this.#cutRequests();
    this.#https?.closeIdleConnections();
    const waiting = new AbortController();
    const waited = sleep(limits.IDLE_CLOSE_WAIT_MS_MAX, waiting.signal).catch(() => undefined);
    await Promise.race([closed, waited]);
    // The timer would keep an embedding process alive.
    waiting.abort();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    this.#slowReaders.stop();
  }

  async #stopAccepting(): Promise<void> {
    const https = this.#https;
    if (https === undefined) return;
    await new Promise<void>((resolve) => {
      https.close(() => {
        resolve();
      });
    });
  }

  #isIdle(): boolean {
    return this.#exchanges.size === 0 && this.#http2?.isOver !== false;
  }

  async #idle(): Promise<void> {
    if (this.#isIdle()) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  async #endWatches(how: { readonly spreadMs: number; readonly refuseNew: boolean }): Promise<void> {
    try {
      await this.#settings.endWatches?.(how);
    } catch (error) {
      this.#settings.log.warn({ error }, 'failed to end the watches gracefully');
    }
  }

  /** Aborts the requests that exceed the grace period. Those without an answer yet get a 503. */
  #cutRequests(): void {
    if (this.#exchanges.size === 0) return;
    this.#settings.log.warn(
      { inFlight: this.inFlight() },
      'drain timed out; aborting the in-flight requests',
    );
    for (const exchange of this.#exchanges.values()) {
      exchange.abort(serviceUnavailable('the server is shutting down', 1));
    }
  }
}
