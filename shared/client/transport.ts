import type {
  AgentOptions,
  ClientRequest,
  IncomingHttpHeaders,
  IncomingMessage,
  RequestOptions,
} from 'node:http';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { callbackify } from 'node:util';

import { TIMER_MAX_MS } from '../concurrency/timer-max';
import { checkLiteral, lookupOption } from './allowed-addresses';
import type { ClientTls, TlsTarget } from './connect-tls';
import { connectTls } from './connect-tls';
import { ConnectionError } from './connection-error';

export interface TransportOptions extends ClientTls {
  /** The server's address with scheme, `https://127.0.0.1:6443`; a path in it is put before every request's path. */
  readonly server: string;
  /** Where to connect to instead of the address's host and port, which stay in what is sent. */
  readonly connectTo?: { readonly host: string; readonly port: number };
  /** Which addresses may be connected to; if one of a host is refused, none is. Absent: all may. */
  readonly allows?: ((address: string) => boolean) | undefined;
  /** More requests wait. More connections that open at the same moment are closed after their request. */
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
/** The time limit of a connection with its handshake, when the request has a longer one. */
const DIAL_MS_MAX = 30_000;
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
  const prefix = base.pathname.replace(/\/+$/, '');
  // IPv6 literals have brackets in a URL and none in a socket address.
  const host = base.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = base.port === '' ? (isTls ? 443 : 80) : Number(base.port);
  const target = { ...(options.connectTo ?? { host, port }), ...lookupOption(options.allows) };
  const tlsServerName = options.tlsServerName || host;
  const agent = isTls
    ? new VerifyingAgent(agentOptions, { ...options, ...target, tlsServerName })
    : new HttpAgent(agentOptions);
  const open = (request: TransportRequest, dial: Dial): ClientRequest => {
    checkLiteral(target.host, options.allows);
    const requestOptions: RequestOptions & { readonly dial: Dial } = {
      ...target,
      agent,
      dial,
      method: request.method,
      path: prefix + request.path,
      headers: { host: base.host, ...request.headers },
    };
    return isTls ? httpsRequest(requestOptions) : httpRequest(requestOptions);
  };
  return {
    send: async (request, deadline) => {
      const call = new Call(open, request, deadline);
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
      const call = new Call(open, request, deadline);
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

/** The connection that a request waits for. */
interface Dial {
  abort: (reason: Error) => void;
}

/** Gives requests only connections to verified servers. */
class VerifyingAgent extends HttpsAgent {
  readonly #target: TlsTarget;

  constructor(options: AgentOptions, target: TlsTarget) {
    super(options);
    this.#target = target;
  }

  override createConnection(
    options: object,
    done: (error: Error | null, socket?: Duplex) => void,
  ): undefined {
    const { dial } = options as { readonly dial: Dial };
    callbackify(async () => this.#connect(dial))(done);
  }

  async #connect(dial: Dial): Promise<Duplex> {
    const abort = new AbortController();
    dial.abort = (reason) => {
      abort.abort(reason);
    };
    const timer = setTimeout(() => {
      dial.abort(Object.assign(new Error('TLS handshake timeout'), { code: 'ETIMEDOUT' }));
    }, DIAL_MS_MAX);
    try {
      return await connectTls(this.#target, abort.signal);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** One request in flight: its timer, its signal, and whether it may have reached the server. */
class Call {
  readonly #clientRequest: ClientRequest;
  readonly #request: TransportRequest;
  readonly #deadline: Deadline;
  readonly #dial: Dial = { abort: () => undefined };
  #hasReachedServer = false;
  #failure: Error | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reject: (error: Error) => void = () => undefined;
  readonly #onAbort = (): void => {
    this.#fail(this.#deadline.signal?.reason as Error);
  };

  constructor(
    open: (request: TransportRequest, dial: Dial) => ClientRequest,
    request: TransportRequest,
    deadline: Deadline,
  ) {
    this.#clientRequest = open(request, this.#dial);
    this.#request = request;
    this.#deadline = deadline;
  }

  async head(): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const clientRequest = this.#clientRequest;
      const deadline = this.#deadline;
      this.#reject = reject;
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
    // A request without a connection fails only when its connection is there or has failed.
    this.#dial.abort(this.#failure);
    this.#reject(this.#failure);
  }

  /** Over TLS the request gets a verified connection, and nothing leaves before; a failed handshake is a known outcome. */
  #noteConnection(socket: Socket): void {
    if (!socket.connecting) {
      this.#hasReachedServer = true;
      return;
    }
    socket.once('connect', () => {
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
