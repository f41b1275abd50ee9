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
import { HEADER_BYTES_MAX, URL_BYTES_MAX } from './limits';
import { discardRest } from './request-body';
import { isTunnel, joinTunnel } from './tunnel';
import { isMessageStream, writeMessages } from './web-socket';
import type { WireRequest, WireResponse } from './wire';

/** What every request goes through: sets `exchange.answer`, or throws. */
export type Pipeline = (exchange: Exchange) => Promise<void>;

/** The requests under way. One is removed when its answer is out, or its connection gone. */
export type InFlight = Map<WireResponse, HttpExchange>;

export interface HandlerOptions {
  readonly pipeline: Pipeline;
  readonly log: Log;
  /** Kept up to date by the handler. */
  readonly inFlight: InFlight;
  /** Called whenever a request was removed from `inFlight`. */
  readonly onRemoved: () => void;
  /** True for requests that came in through the listener for upgrades. */
  readonly upgrade: boolean;
  readonly stallMsMax: number;
  readonly memory: RequestMemory;
  readonly counts: Pick<ConnectionCounts, 'slowReaders' | 'http2Floods'>;
  /** Undefined: browsers are told nothing. */
  readonly browsers?: BrowserRules | undefined;
  /** True once the server is about to go: whoever is through with a stream should look for another one. */
  readonly isLeaving: () => boolean;
}

/**
 * Builds the exchange of one request, sends it on the pipeline and writes what comes back. Resolves when the answer is handed over; one that
 * is streamed goes on by itself. Never rejects.
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

/** One request from the listener to its answer. It is kept small: that of a watch stays for an hour. */
class Handling implements AnswerOwner {
  readonly exchange: HttpExchange;
  readonly response: WireResponse;
  readonly options: HandlerOptions;
  readonly #request: WireRequest;
  /** It was sent on the pipeline, on which it is found out whose it is. */
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

  /** Sets the exchange's answer, if anybody is left to be answered. */
  async answer(): Promise<void> {
    const { exchange, options } = this;
    if ((this.#request.headBytes ?? 0) > HEADER_BYTES_MAX) {
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
    if (exchange.method === 'CONNECT') {
      // Over HTTP/2 alone: Node ends a connection of HTTP/1.1 that asks for it.
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
      // As whom it is to be carried out may have been among them.
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
      // Its client is taken to be gone. One who is there after all must not wait for ever.
      response.destroy();
      return;
    }
    if (isTunnel(answer) || (options.upgrade && isMessageStream(answer))) {
      await this.#writeUpgraded(answer);
      return;
    }
    if (response.sharesConnection === true && this.#isSent && isStranger(exchange.user))
      response.shouldKeepAlive = false;
    // A client that asked to continue and is refused may or may not send its body now: only a new connection, or its own stream, is clear.
    if (request.expectsContinue && response.sharesConnection !== true) response.shouldKeepAlive = false;
    try {
      writeAnswer(this, answer);
    } catch (error) {
      this.#sendErrorOf(error);
    }
  }

  /** Over a connection that belongs to this request alone. */
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
    // The handshake, the last that looks at the request, is made by now.
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
   * A client that watched comes back at once; when the server is about to go, on the same connection it would come back here, whatever a
   * balancer thinks of that.
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

  /** There is no answer that could be written. */
  fail(error: unknown): void {
    const { id, path } = this.exchange;
    this.options.log.error({ id, path, error }, 'failed to write a response');
    this.response.destroy();
  }

  /** Answers with the error of an answer of which nothing could be written. Throws when this one cannot be written either. */
  #sendErrorOf(error: unknown): void {
    const { exchange, options } = this;
    exchange.answer = answerOfError(error, exchange, options.log);
    if (exchange.answer !== undefined) writeAnswer(this, exchange.answer);
  }

  /** To be called when everything is written: whoever reads slowly is not hurried by what it sends. */
  #discardBody(): void {
    if (!this.options.upgrade && !this.#request.expectsContinue) discardRest(this.#request);
  }
}

/**
 * Over a connection that has many requests at once whoever is not known gets one turn, so that the limit of handshakes bounds them: what is under
 * way is answered, and further requests need a new connection.
 */
function isStranger({ name, groups }: UserInfo): boolean {
  return name === '' || groups.includes(USER_GROUP.unauthenticated);
}

/** As the parser of HTTP/1.1 has it answered. */
const HEAD_TOO_LARGE: Answer = {
  code: 431,
  headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  body: Buffer.from('431 Request Header Fields Too Large'),
};

/** As the Go server says it. Which of them a proxy before this server went by cannot be known. */
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
