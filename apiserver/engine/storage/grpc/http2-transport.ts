import { performance } from 'node:perf_hooks';
import type { CallTarget } from './http2-call';
import { unaryCall } from './http2-call';
import type { ClientTls } from '../../../../shared/client/connect-tls';
import { Backoff } from '../../../../shared/concurrency/backoff';
import type { Tuning } from './http2-connection';
import { Http2Connection, TUNING } from './http2-connection';
import { brokenStream, MessageStream } from './http2-stream';
import { replaceSlowBind } from './plain-bind';
import type { Method, ResponseStream, StreamOptions, Transport, UnaryOptions } from './transport';
import { STATUS, TransportError } from './transport';

export interface Http2Options {
  /** Called for each new connection to an `https:` endpoint. */
  readonly clientTls?: () => ClientTls;
  /** Limit of one connection attempt. */
  readonly dialTimeoutMs: number;
  readonly tuning?: Partial<Tuning>;
}

const BACKOFF = { initialMs: 100, maxMs: 1_000 };
const NO_CONNECTION = 'No connection is open.';
const GAVE_UP = 'The caller gave up.';
const CLOSED = 'The client is closed.';

/** Makes transports that speak gRPC over node:http2. */
export function http2TransportFactory(options: Http2Options): (endpoint: string) => Transport {
  replaceSlowBind();
  return (endpoint) => new Http2Transport(endpoint, options);
}

class Http2Transport implements Transport {
  readonly endpoint: string;
  readonly #options: Http2Options;
  readonly #authority: string;
  readonly #scheme: string;
  /** All connections that have not ended: the current one, and draining ones that accept no new calls. */
  readonly #connections = new Set<Http2Connection>();
  #current: CallTarget | undefined;
  #attempt: Promise<void> | undefined;
  #lastFailure: { readonly error: Error; readonly retryAtMs: number } | undefined;
  readonly #backoff = new Backoff(BACKOFF);
  #isClosed = false;

  constructor(endpoint: string, options: Http2Options) {
    const { protocol, hostname, port } = new URL(endpoint);
    this.endpoint = endpoint;
    this.#options = options;
    this.#scheme = protocol === 'https:' ? 'https' : 'http';
    const host = protocol === 'unix:' ? 'localhost' : hostname;
    this.#authority = port === '' ? `${host}:${protocol === 'https:' ? '443' : '80'}` : `${host}:${port}`;
  }

  ready(timeoutMs: number, signal: AbortSignal): Promise<void> | undefined {
    return this.#current?.connection.isOpen === true ? undefined : this.#connect(timeoutMs, signal);
  }

  unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: UnaryOptions,
  ): Promise<Response> {
    if (this.#current === undefined) return Promise.reject(this.#notRun(STATUS.unavailable, NO_CONNECTION));
    return unaryCall(this.#current, method, request, options);
  }

  stream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: StreamOptions,
  ): ResponseStream<Response> {
    if (this.#current === undefined) return brokenStream(this.#notRun(STATUS.unavailable, NO_CONNECTION));
    return new MessageStream({ target: this.#current, method, request, options });
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections) {
      connection.destroy({ code: STATUS.cancelled, details: 'The client was closed.' });
    }
  }

  /** Callers share one attempt (single-flight). After a failed attempt, callers get its error until the backoff has passed. */
  async #connect(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#isClosed) throw this.#notRun(STATUS.cancelled, CLOSED);
    if (signal.aborted) throw this.#notRun(STATUS.cancelled, GAVE_UP);
    const failure = this.#lastFailure;
    if (failure !== undefined && performance.now() < failure.retryAtMs) throw failure.error;
    this.#attempt ??= this.#dial();
    const attempt = this.#attempt;
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        reject(this.#notRun(STATUS.cancelled, GAVE_UP));
      };
      const timer = setTimeout(() => {
        reject(this.#notRun(STATUS.unavailable, 'No connection was made in time.'));
      }, timeoutMs);
      signal.addEventListener('abort', onAbort, { once: true });
      attempt.then(resolve, reject).finally(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      });
    });
  }

  async #dial(): Promise<void> {
    try {
      await this.#leaveCurrent();
      const connection = this.#open();
      await connection.connected;
      const { endpoint } = this;
      const authority = this.#authority;
      const scheme = this.#scheme;
      this.#current = { connection, endpoint, authority, scheme };
      this.#lastFailure = undefined;
    } catch (error) {
      this.#lastFailure = { error: error as Error, retryAtMs: performance.now() + this.#backoff.next() };
      throw error;
    } finally {
      this.#attempt = undefined;
    }
  }

  /** A server that accepts connections and closes them before it answers a call is subject to the same backoff as one that refuses them. */
  async #leaveCurrent(): Promise<void> {
    const ended = this.#current?.connection;
    this.#current = undefined;
    if (ended === undefined) return;
    if (ended.hasAnswered) {
      this.#backoff.reset();
    } else {
      await new Promise((resolve) => setTimeout(resolve, this.#backoff.next()));
      if (this.#isClosed) throw this.#notRun(STATUS.cancelled, CLOSED);
    }
  }

  #open(): Http2Connection {
    const { endpoint } = this;
    const options = this.#options;
    const connection = new Http2Connection({
      endpoint,
      clientTls: this.#scheme === 'https' ? options.clientTls?.() : undefined,
      dialTimeoutMs: options.dialTimeoutMs,
      tuning: { ...TUNING, ...options.tuning },
    });
    this.#connections.add(connection);
    void connection.ended.then(() => this.#connections.delete(connection));
    return connection;
  }

  #notRun(code: number, details: string): TransportError {
    return new TransportError({ code, details, endpoint: this.endpoint, mayHaveRun: false });
  }
}
