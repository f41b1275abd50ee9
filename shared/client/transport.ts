import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';

import { TIMER_MAX_MS } from '../concurrency/timer-max';
import { defined } from '../defined';
import { ConnectionError } from './connection-error';

export interface TransportOptions {
  /** The server's address with scheme, `https://127.0.0.1:6443`; a path in it is put before every request's path. */
  readonly server: string;
  /** PEM. Without it the system's authorities are trusted. */
  readonly ca?: string | Buffer;
  /** PEM of the client certificate and its key. */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly insecureSkipTlsVerify?: boolean;
  /** The name to check the server's certificate against instead of the address's host. */
  readonly tlsServerName?: string;
  /** Where to connect to instead of the address's host and port, which stay in what is sent. */
  readonly connectTo?: { readonly host: string; readonly port: number };
  readonly socketsMax?: number;
  readonly idleSocketsMax?: number;
  /** Bound of a response body in bytes; a longer one is an error. */
  readonly answerBytesMax?: number;
}

export interface TransportRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

export interface Deadline {
  /** Time until the response headers, in milliseconds; `send` includes the body. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Answer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface StreamedAnswer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  /** Ends with the answer, throws a ConnectionError if it breaks. Must be read or returned. */
  readonly chunks: AsyncIterable<Buffer>;
  readonly end: () => void;
}

export interface Transport {
  /** The whole answer, whatever its code. Throws ConnectionError, or the signal's reason once it aborts. */
  send(request: TransportRequest, deadline: Deadline): Promise<Answer>;
  /** The answer as soon as its head is there. The signal stays in force while the body is read. */
  stream(request: TransportRequest, deadline: Deadline): Promise<StreamedAnswer>;
  /** Closes idle connections; those in use end with their answers. */
  close(): void;
}

const SOCKETS_MAX = 1024;
const IDLE_SOCKETS_MAX = 32;
const TCP_KEEP_ALIVE_MS = 30_000;
const ANSWER_BYTES_MAX = 512 * 1024 * 1024;

/** HTTP/1.1 with keep-alive over `node:https`, or `node:http` for an `http://` server. No retries: those are the client's. */
export function createTransport(options: TransportOptions): Transport {
  const base = new URL(options.server);
  const isTls = base.protocol === 'https:';
  const agentOptions = {
    keepAlive: true,
    keepAliveMsecs: TCP_KEEP_ALIVE_MS,
    maxSockets: options.socketsMax ?? SOCKETS_MAX,
    maxFreeSockets: options.idleSocketsMax ?? IDLE_SOCKETS_MAX,
  };
  const agent = isTls
    ? new HttpsAgent({ ...agentOptions, ...tlsOptions(options) })
    : new HttpAgent(agentOptions);
  const prefix = base.pathname.replace(/\/+$/, '');
  // IPv6 literals have brackets in a URL and none in a socket address.
  const host = base.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = base.port === '' ? (isTls ? 443 : 80) : Number(base.port);
  const target = { ...(options.connectTo ?? { host, port }), agent };
  const open = (request: TransportRequest): ClientRequest => {
    const requestOptions: RequestOptions = {
      ...target,
      method: request.method,
      path: prefix + request.path,
      headers: { host: base.host, ...request.headers },
    };
    return isTls ? httpsRequest(requestOptions) : httpRequest(requestOptions);
  };
  return {
    send: async (request, deadline) => {
      const call = new Call(open(request), request, deadline);
      try {
        const response = await call.head();
        return {
          code: response.statusCode ?? 0,
          headers: response.headers,
          body: await call.whole(response, options.answerBytesMax ?? ANSWER_BYTES_MAX),
        };
      } finally {
        call.finish();
      }
    },
    stream: async (request, deadline) => {
      const call = new Call(open(request), request, deadline);
      try {
        const response = await call.head();
        call.stopTimer();
        const end = (): void => {
          call.finish();
          response.destroy();
        };
        return {
          code: response.statusCode ?? 0,
          headers: response.headers,
          chunks: call.chunks(response, end),
          end,
        };
      } catch (error) {
        call.finish();
        throw error;
      }
    },
    close: () => {
      // Not by `agent.destroy()`, which cuts requests that are under way.
      agent.maxFreeSockets = 0;
      for (const socket of Object.values(agent.freeSockets).flatMap((each) => each ?? [])) socket.destroy();
    },
  };
}

function tlsOptions(options: TransportOptions): object {
  const serverName = options.tlsServerName ?? '';
  return {
    ...defined({ ca: options.ca, cert: options.cert, key: options.key }),
    ...(serverName === '' ? {} : { servername: serverName }),
    rejectUnauthorized: options.insecureSkipTlsVerify !== true,
  };
}

/** One request in flight: its timer, its signal, and whether it may have reached the server. */
class Call {
  readonly #clientRequest: ClientRequest;
  readonly #request: TransportRequest;
  readonly #deadline: Deadline;
  #hasReachedServer = false;
  #failure: Error | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #onAbort = (): void => {
    this.#fail(this.#deadline.signal?.reason as Error);
  };

  constructor(clientRequest: ClientRequest, request: TransportRequest, deadline: Deadline) {
    this.#clientRequest = clientRequest;
    this.#request = request;
    this.#deadline = deadline;
  }

  async head(): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const clientRequest = this.#clientRequest;
      const deadline = this.#deadline;
      clientRequest.once('response', resolve);
      // The listener stays for the whole life of the request: an error after the head must not become uncaught.
      clientRequest.on('error', (error) => {
        reject(this.#explain(error));
      });
      clientRequest.once('socket', (socket) => {
        this.#noteConnection(socket);
      });
      this.#timer = setTimeout(
        () => {
          this.#fail(
            this.#error(`no answer within ${String(Math.round(deadline.timeoutMs))} ms`, 'ETIMEDOUT'),
          );
        },
        Math.min(deadline.timeoutMs, TIMER_MAX_MS),
      );
      deadline.signal?.addEventListener('abort', this.#onAbort, { once: true });
      if (deadline.signal?.aborted === true) this.#onAbort();
      else clientRequest.end(this.#request.body);
    });
  }

  async whole(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of this.chunks(response, () => undefined)) {
      bytes += chunk.length;
      if (bytes > bytesMax) {
        throw this.#error(`the answer is longer than ${String(bytesMax)} bytes`, 'EMSGSIZE');
      }
      parts.push(chunk);
    }
    return parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts, bytes);
  }

  async *chunks(response: IncomingMessage, end: () => void): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of response) yield chunk as Buffer;
    } catch (error) {
      throw this.#explain(error);
    } finally {
      end();
    }
  }

  stopTimer(): void {
    clearTimeout(this.#timer);
  }

  finish(): void {
    this.stopTimer();
    this.#deadline.signal?.removeEventListener('abort', this.#onAbort);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#clientRequest.destroy(error);
  }

  #noteConnection(socket: Socket): void {
    if (!socket.connecting) {
      this.#hasReachedServer = true;
      return;
    }
    socket.once('connect', () => {
      // Over TLS nothing of the request leaves before the handshake is done; a failed handshake is a known outcome.
      if (!('encrypted' in socket)) this.#hasReachedServer = true;
    });
    socket.once('secureConnect', () => {
      this.#hasReachedServer = true;
    });
  }

  #explain(error: unknown): Error {
    if (this.#failure !== undefined) return this.#failure;
    if (error instanceof ConnectionError) return error;
    const { code } = error as NodeJS.ErrnoException;
    const message = error instanceof Error ? error.message : String(error);
    // Node tells a refusal of every address of a name (::1 and 127.0.0.1) by an AggregateError with no message.
    return this.#error(message === '' ? (code ?? 'connection failed') : message, code ?? 'ECONNRESET', error);
  }

  #error(message: string, code: string, cause?: unknown): ConnectionError {
    const { method, path } = this.#request;
    const isRead = method === 'GET' || method === 'HEAD';
    return new ConnectionError(`${method} ${path.split('?')[0] ?? ''}: ${message}`, {
      code,
      outcomeUnknown: !isRead && this.#hasReachedServer,
      cause,
    });
  }
}
