import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { StatusError } from '../../shared/errors/status-error';
import type { Log } from '../../shared/log/log';
import type { Exchange } from '../exchange/exchange';
import { ClientGoneError } from '../exchange/initial-values';
import { writeAnswer } from './answer-writer';
import { answerOfError, statusAnswer } from './edge';
import type { DoorRequest } from './express-door';
import { HttpExchange } from './http-exchange';
import { URL_BYTES_MAX } from './limits';
import { discardRest } from './request-body';
import { isMessageStream, writeMessages } from './web-socket';

/** What every request goes through: sets `exchange.answer`, or throws. */
export type Journey = (exchange: Exchange) => Promise<void>;

/** The requests under way. One is removed when its answer is out, or its connection gone. */
export type InFlight = Map<ServerResponse, HttpExchange>;

export interface HandlerOptions {
  readonly journey: Journey;
  readonly log: Log;
  /** Kept up to date by the handler. */
  readonly inFlight: InFlight;
  /** Called whenever a request was removed from `inFlight`. */
  readonly onRemoved: () => void;
  /** True for requests that came in through the door for upgrades. */
  readonly upgrade: boolean;
  readonly stallMsMax: number;
  /** True once the server is about to go: whoever is through with a stream should look for another one. */
  readonly isLeaving: () => boolean;
}

/** Builds the exchange of one request, sends it on the journey and writes what comes back. Never rejects. */
export async function handleRequest(
  request: DoorRequest,
  response: ServerResponse,
  options: HandlerOptions,
): Promise<void> {
  const { inFlight } = options;
  const exchange = new HttpExchange(request, response, { upgrade: options.upgrade, receivedAt: Date.now() });
  inFlight.set(response, exchange);
  response.on('close', () => {
    inFlight.delete(response);
    if (!response.writableFinished) exchange.abort(new ClientGoneError());
    options.onRemoved();
  });
  try {
    await answerRequest(request, exchange, options);
    // A client that asked to continue and is refused may or may not send its body now: only a new connection is clear.
    if (request.expectsContinue) response.shouldKeepAlive = false;
    const { socket } = request;
    await writeFor(request, response, { exchange, options });
    if (options.isLeaving() && exchange.answer?.messages !== undefined) closeBehind(response, socket);
  } catch (error) {
    options.log.error({ id: exchange.id, path: exchange.path, error }, 'an answer could not be written');
    response.destroy();
  }
  if (!options.upgrade && !request.expectsContinue) discardRest(request);
}

/** A client that watched comes back at once; on the same connection it would come back here, whatever a balancer thinks of that. */
function closeBehind(response: ServerResponse, socket: Socket): void {
  if (response.writableFinished) socket.destroySoon();
  else response.once('finish', () => socket.destroySoon());
}

async function answerRequest(
  request: DoorRequest,
  exchange: HttpExchange,
  { journey, log }: HandlerOptions,
): Promise<void> {
  if ((request.url?.length ?? 0) > URL_BYTES_MAX) {
    exchange.answer = statusAnswer(
      new StatusError('', `the request URI is too long: limit is ${String(URL_BYTES_MAX)}`, { code: 414 }),
      exchange,
    );
    return;
  }
  try {
    await journey(exchange);
    if (exchange.answer === undefined) throw new Error('the journey ended without an answer');
  } catch (error) {
    exchange.answer = answerOfError(error, exchange, log);
  }
}

async function writeFor(
  request: DoorRequest,
  response: ServerResponse,
  { exchange, options }: { readonly exchange: HttpExchange; readonly options: HandlerOptions },
): Promise<void> {
  const { answer } = exchange;
  if (answer === undefined) {
    // Its client is taken to be gone. One who is there after all must not wait for ever.
    response.destroy();
    return;
  }
  if (options.upgrade && isMessageStream(answer)) {
    await writeMessages({ request, response, exchange, answer }, options);
    return;
  }
  try {
    await writeAnswer(response, exchange, answer, options);
  } catch (error) {
    exchange.answer = answerOfError(error, exchange, options.log);
    if (exchange.answer !== undefined) await writeAnswer(response, exchange, exchange.answer, options);
  }
}
