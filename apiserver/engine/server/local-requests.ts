import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { LightSignal } from '../../../shared/concurrency/light-signal';
import { StatusError } from '../../../shared/errors/status-error';
import type { Log } from '../../../shared/log/log';
import type { Answer, Exchange, UserInfo } from '../request/exchange';
import { ClientGoneError, NO_INFO, NO_USER } from '../request/initial-values';
import { plainPath } from '../request/plain-path';
import { queryOf } from '../request/query-of';
import type { Authenticator } from '../authn/authenticator';
import { headersOf } from './answer-writer';
import { answerOfError } from './error-handler';
import { BODY_BYTES_MAX } from './limits';
import type { Pipeline } from './request-handler';

/** A request of the process that embeds the server. */
export interface LocalRequest {
  readonly method: string;
  /** Path and query, beginning with a slash. */
  readonly target: string;
  /** Names and values alternate. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The user; undefined: the headers of the request authenticate, as those of any client. */
  readonly user: UserInfo | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface LocalResponse {
  readonly code: number;
  /** Names and values alternate. */
  readonly headers: readonly string[];
  /** Throws if the server cuts the response. Leaving the iteration tells the server that the client has gone. */
  readonly body: Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** Requests that run through the whole pipeline of a server without a connection. */
export interface LocalRequests {
  /** Rejects with the signal's reason if that aborts first, and once the server has stopped. */
  send(request: LocalRequest): Promise<LocalResponse>;
  /** Knows the users of these requests. */
  readonly authenticator: Authenticator;
  /** Aborts the requests in flight and refuses further ones. */
  close(): void;
}

/** `pipelineOf` returns the stages of the server once it has them. */
export function createLocalRequests(pipelineOf: () => Pipeline | undefined, log: Log): LocalRequests {
  const users = new WeakMap<Exchange, UserInfo>();
  const inFlight = new Set<LocalExchange>();
  let isClosed = false;
  return {
    async send(request) {
      const pipeline = isClosed ? undefined : pipelineOf();
      if (pipeline === undefined) throw new Error('the server is stopped');
      request.signal?.throwIfAborted();
      const exchange = new LocalExchange(request);
      if (request.user !== undefined) users.set(exchange, request.user);
      inFlight.add(exchange);
      exchange.whenOver(() => inFlight.delete(exchange));
      exchange.follow(request.signal);
      try {
        exchange.answer = await answerOf(pipeline, exchange, log);
        return responseOf(exchange, exchange.answer);
      } catch (error) {
        exchange.end();
        throw error;
      }
    },
    authenticator: async (exchange) => {
      const user = users.get(exchange);
      return Promise.resolve(user === undefined ? undefined : { user });
    },
    close() {
      isClosed = true;
      for (const exchange of inFlight) {
        exchange.abort(new Error('the server is stopped'));
        exchange.end();
      }
    },
  };
}

async function answerOf(pipeline: Pipeline, exchange: LocalExchange, log: Log): Promise<Answer> {
  try {
    await pipeline(exchange);
    if (exchange.answer === undefined) throw new Error('the pipeline ended without an answer');
    return exchange.answer;
  } catch (error) {
    const answer = answerOfError(error, exchange, log);
    if (answer === undefined) throw exchange.goneReason ?? error;
    return answer;
  }
}

function responseOf(exchange: LocalExchange, answer: Answer): LocalResponse {
  const { code, body } = answer;
  const headers = headersOf(exchange, answer).map((each) => String(each));
  if (!Buffer.isBuffer(body)) return { code, headers, body: streamOf(exchange, body) };
  // A reader may ignore the body, so that the request must end without one.
  exchange.end();
  return { code, headers, body: exchange.method === 'HEAD' || body.length === 0 ? [] : [body] };
}

async function* streamOf(exchange: LocalExchange, body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isComplete = false;
  try {
    // A lent piece is reused after the next one is requested, and a reader may keep it.
    if (exchange.method !== 'HEAD') for await (const piece of body) yield Buffer.from(piece);
    exchange.signal.throwIfAborted();
    isComplete = true;
  } catch (error) {
    throw exchange.goneReason ?? error;
  } finally {
    if (!isComplete) exchange.abort(new ClientGoneError());
    exchange.end();
  }
}

const LOCAL_ADDRESS = '127.0.0.1';

class LocalExchange implements Exchange {
  readonly id = randomUUID();
  readonly method: string;
  readonly path: string;
  readonly uri: string;
  readonly query: URLSearchParams;
  readonly search: string;
  headers: IncomingHttpHeaders = {};
  rawHeaders: readonly string[];
  readonly remoteAddress = LOCAL_ADDRESS;
  readonly upgrade = false;
  readonly receivedAt = Date.now();
  readonly signal = new LightSignal();
  info = NO_INFO;
  user = NO_USER;
  readonly warnings: string[] = [];
  answer: Answer | undefined = undefined;
  /** Why the client has gone; undefined while it waits. */
  goneReason: unknown = undefined;
  readonly #body: Buffer;
  #endListeners: (() => void)[] | undefined = [];

  constructor({ method, target, rawHeaders, body }: LocalRequest) {
    const question = target.indexOf('?');
    this.method = method;
    this.uri = target;
    this.path = plainPath(question < 0 ? target : target.slice(0, question));
    this.search = question < 0 ? '' : target.slice(question + 1);
    this.query = queryOf(this.search);
    this.rawHeaders = rawHeaders;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = (rawHeaders[at] ?? '').toLowerCase();
      const before = this.headers[name];
      const value = rawHeaders[at + 1] ?? '';
      this.headers[name] = typeof before === 'string' ? `${before}, ${value}` : value;
    }
    this.#body = body;
  }

  /** Aborts the exchange with the signal of the client. */
  follow(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    const onAbort = (): void => {
      this.goneReason = signal.reason;
      this.abort(new ClientGoneError());
    };
    signal.addEventListener('abort', onAbort, { once: true });
    this.whenOver(() => {
      signal.removeEventListener('abort', onAbort);
    });
  }

  abort(reason: Error): void {
    this.signal.abort(reason);
  }

  whenOver(listener: () => void): void {
    if (this.#endListeners === undefined) listener();
    else this.#endListeners.push(listener);
  }

  end(): void {
    const listeners = this.#endListeners ?? [];
    this.#endListeners = undefined;
    for (const listener of listeners) listener();
  }

  async readBody(): Promise<Buffer> {
    if (this.#body.length > BODY_BYTES_MAX)
      throw new StatusError(
        'RequestEntityTooLarge',
        `Request entity too large: limit is ${String(BODY_BYTES_MAX)}`,
      );
    return Promise.resolve(this.#body);
  }

  bodyStream(): Readable | undefined {
    return this.#body.length === 0 ? undefined : Readable.from([this.#body]);
  }
}
