import { ServerResponse } from 'node:http';
import { badRequest, StatusError } from '../../../shared/errors/status-error';
import type { Log } from '../../../shared/log/log';
import { USER_GROUP } from '../../../shared/names';
import type { Answer, Exchange, UserInfo } from '../request/exchange';
import { ClientGoneError } from '../request/initial-values';
import type { AnswerOwner } from './answer-writer';
import { writeAnswer } from './answer-writer';
import { answerOfError, statusAnswer } from './error-handler';
import type { BrowserRules } from './browser-rules';
import type { ConnectionCounts } from './connection-counts';
import { ListenerRequest } from './listener-request';
import type { RequestMemory } from './held-bytes';
import { HttpExchange } from './http-exchange';
import { HEADER_BYTES_MAX, HEADER_FIELDS_MAX, QUERY_PARAMETERS_MAX, URL_BYTES_MAX } from './limits';
import { discardRest } from './request-body';
import { isTunnel, joinTunnel } from './tunnel';
import { isMessageStream, writeMessages } from './web-socket';
import type { WireRequest, WireResponse } from './wire';

/** Runs the stages of a request: sets `exchange.answer`, or throws. */
export type Pipeline = (exchange: Exchange) => Promise<void>;

const BAD_REQUEST = 400;
const INTERNAL_ERROR = 500;

/** The requests in flight. A request is removed when its answer is sent or its connection is closed. */
export type InFlight = Map<WireResponse, HttpExchange>;

export interface HandlerOptions {
  readonly pipeline: Pipeline;
  readonly log: Log;
  /** Kept up to date by the handler. */
  readonly inFlight: InFlight;
  /** Called whenever a request was removed from `inFlight`. */
  readonly onRemoved: () => void;
  /** Whether the requests come through the listener for upgrades. */
  readonly upgrade: boolean;
  readonly stallMsMax: number;
  readonly memory: RequestMemory;
  readonly counts: Pick<ConnectionCounts, 'slowReaders' | 'http2Floods'>;
  /** Undefined: no headers for browsers. */
  readonly browsers?: BrowserRules | undefined;
  /** Whether the server is shutting down: clients should reconnect to another server after a stream. */
  readonly isLeaving: () => boolean;
}

/**
 * Builds the exchange of one request, runs the pipeline and writes the answer. Resolves when the answer is passed to
 * the connection; a stream continues on its own. Never rejects.
 */
export async function handleRequest(
  request: WireRequest,
  response: WireResponse,
  options: HandlerOptions,
): Promise<void> {
  const handling = new Handling(request, response, options);
  handling.begin();
  try {
    await handling.answer();
    await handling.write();
  } catch (error) {
    handling.fail(error);
  }
}

/** Handles one request from the listener to its answer. It is kept small: one per open watch stays in memory. */
class Handling implements AnswerOwner {
  readonly exchange: HttpExchange;
  readonly response: WireResponse;
  readonly options: HandlerOptions;
  readonly #request: WireRequest;
  /** The pipeline has run, which authenticates the user. */
  #isSent = false;

  constructor(request: WireRequest, response: WireResponse, options: HandlerOptions) {
    this.exchange = new HttpExchange(request, response, {
      upgrade: options.upgrade,
      receivedAt: Date.now(),
      bodies: options.memory.bodies,
    });
    this.#request = request;
    this.response = response;
    this.options = options;
  }

  begin(): void {
    const { response, options } = this;
    options.inFlight.set(response, this.exchange);
    response.on('close', this.#onClose);
  }

  readonly #onClose = (): void => {
    const { exchange, response, options } = this;
    if (!options.inFlight.delete(response)) return;
    if (!response.writableFinished) exchange.abort(new ClientGoneError());
    exchange.end();
    options.onRemoved();
  };

  /** Sets the exchange's answer; leaves it undefined if the client has disconnected. */
  async answer(): Promise<void> {
    const { exchange, options } = this;
    if ((this.#request.headBytes ?? 0) > HEADER_BYTES_MAX || hasTooManyFields(this.#request)) {
      exchange.answer = HEAD_TOO_LARGE;
      return;
    }
    if ((this.#request.url?.length ?? 0) > URL_BYTES_MAX) {
      exchange.answer = statusAnswer(
        new StatusError('', `the request URI is too long: limit is ${String(URL_BYTES_MAX)}`, { code: 414 }),
        exchange,
      );
      return;
    }
    if (hasTooManyParameters(exchange.search)) {
      exchange.answer = statusAnswer(
        badRequest(`the query has too many parameters: limit is ${String(QUERY_PARAMETERS_MAX)}`),
        exchange,
      );
      return;
    }
    if (exchange.method === 'CONNECT') {
      // HTTP/2 only: Node closes an HTTP/1.1 connection with CONNECT.
      exchange.answer = statusAnswer(
        new StatusError(
          'MethodNotAllowed',
          'the server does not allow this method on the requested resource',
        ),
        exchange,
      );
      return;
    }
    if (this.#request.lacksFields === true) {
      // The dropped fields may have included impersonation.
      exchange.answer = statusAnswer(
        badRequest('a field of the request head has a name or a value that cannot be one'),
        exchange,
      );
      return;
    }
    if (hasSeveralHosts(this.#request)) {
      exchange.answer = TOO_MANY_HOSTS;
      this.response.shouldKeepAlive = false;
      return;
    }
    this.#isSent = true;
    try {
      await options.pipeline(exchange);
      if (exchange.answer === undefined) throw new Error('the pipeline ended without an answer');
    } catch (error) {
      exchange.answer = answerOfError(error, exchange, options.log);
    }
  }

  async write(): Promise<void> {
    const { response, exchange, options } = this;
    const request = this.#request;
    const { answer } = exchange;
    if (answer === undefined) {
      // The client seems to have disconnected. If it has not, it must not wait for ever.
      response.destroy();
      return;
    }
    if (isTunnel(answer) || (options.upgrade && isMessageStream(answer))) {
      await this.#writeUpgraded(answer);
      return;
    }
    if (this.#endsConnection(answer)) response.shouldKeepAlive = false;
    // After a refused `Expect: 100-continue` the client may or may not send the body. Only a new connection, or an
    // HTTP/2 stream, is unambiguous.
    if (request.expectsContinue && response.sharesConnection !== true) response.shouldKeepAlive = false;
    try {
      writeAnswer(this, answer);
    } catch (error) {
      this.#sendErrorOf(error);
    }
  }

  /**
   * Returns whether further requests need a new connection, which the rate limit of handshakes bounds. On a multiplexed
   * connection, a client without credentials gets one round of requests; on any other, requests until one is refused,
   * so that balancers keep their connections for health checks.
   */
  #endsConnection({ code }: Answer): boolean {
    const isShared = this.response.sharesConnection === true;
    if (!this.#isSent) return !isShared;
    return isStranger(this.exchange.user) && (isShared || (code >= BAD_REQUEST && code < INTERNAL_ERROR));
  }

  /** Writes an answer that takes over its connection. */
  async #writeUpgraded(answer: Answer): Promise<void> {
    const { response, exchange, options } = this;
    const request = this.#request;
    if (!(response instanceof ServerResponse) || !(request instanceof ListenerRequest)) {
      throw new Error('only a request of HTTP/1.1 can be upgraded');
    }
    if (isTunnel(answer)) {
      joinTunnel({ request, response, exchange, answer });
      exchange.forgetRequest();
      return;
    }
    if (!isMessageStream(answer)) return;
    const written = writeMessages({ request, response, exchange, answer }, options);
    // The handshake was the last use of the request.
    exchange.forgetRequest();
    await written;
  }

  headSent(): void {
    const { exchange, response } = this;
    if (exchange.answer?.messages === undefined) return;
    exchange.forgetRequest();
    if (response.sharesConnection === true) response.isOpenEnded = true;
  }

  /**
   * Ends the connection of a watch while the server is shutting down: the client reconnects at once, and on the same
   * connection it would come back to this server, whatever a load balancer decided.
   */
  answerEnded(): void {
    const { response, exchange, options } = this;
    const request = this.#request;
    this.#discardBody();
    if (!options.isLeaving() || exchange.answer?.messages === undefined) return;
    if (!(response instanceof ServerResponse)) {
      response.shouldKeepAlive = false;
      return;
    }
    const { socket } = request;
    if (response.writableFinished) socket.destroySoon();
    else response.once('finish', () => socket.destroySoon());
  }

  streamRefused(error: unknown): void {
    try {
      this.#sendErrorOf(error);
    } catch (again) {
      this.fail(again);
    }
  }

  /** Destroys the connection: no answer can be written. */
  fail(error: unknown): void {
    const { id, path } = this.exchange;
    this.options.log.error({ id, path, error }, 'failed to write a response');
    this.response.destroy();
  }

  /**
   * Answers with the error of an answer that failed before anything was written. Throws if the error cannot be
   * written either.
   */
  #sendErrorOf(error: unknown): void {
    const { exchange, options } = this;
    exchange.answer = answerOfError(error, exchange, options.log);
    if (exchange.answer !== undefined) writeAnswer(this, exchange.answer);
  }

  /** Discards the rest of the body. Called after the answer is written. */
  #discardBody(): void {
    if (!this.options.upgrade && !this.#request.expectsContinue) discardRest(this.#request);
  }
}

/** Returns whether the user is anonymous or unauthenticated. */
function isStranger({ name, groups }: UserInfo): boolean {
  return name === '' || groups.includes(USER_GROUP.unauthenticated);
}

/** The answer of the HTTP/1.1 parser. */
const HEAD_TOO_LARGE: Answer = {
  code: 431,
  headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  body: Buffer.from('431 Request Header Fields Too Large'),
};

/** Returns whether the query has too many parameters. They are counted before they are parsed. */
function hasTooManyParameters(search: string): boolean {
  if (search.length <= QUERY_PARAMETERS_MAX) return false;
  let parameters = 1;
  for (let at = search.indexOf('&'); at >= 0 && parameters <= QUERY_PARAMETERS_MAX; parameters += 1)
    at = search.indexOf('&', at + 1);
  return parameters > QUERY_PARAMETERS_MAX;
}

/** Returns whether the headers are so many that their number alone costs the server time. */
function hasTooManyFields({ rawHeaders }: WireRequest): boolean {
  return rawHeaders.length > 2 * HEADER_FIELDS_MAX;
}

/** The answer of Go’s server. A proxy in front may have routed by any of the hosts. */
const TOO_MANY_HOSTS: Answer = {
  code: 400,
  headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  body: Buffer.from('400 Bad Request: too many Host headers'),
};

function hasSeveralHosts({ rawHeaders }: WireRequest): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}
