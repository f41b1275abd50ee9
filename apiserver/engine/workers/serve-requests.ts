import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { StatusError, fromStatus } from '../../../shared/errors/status-error';
import { shortened } from '../request/answered-error';
import { statusAnswer } from '../server/error-handler';
import { ClientGoneError } from '../request/initial-values';
import type { Answer, Exchange } from '../request/exchange';
import { portable, withBuffers } from '../storage/decorators/remote/portable';
import type { ElementRequest } from '../handlers/element-encoder';
import type { FromThread, Refusal, Remarks, ToThread, WorkerCounts } from './messages';
import { OffloadedExchange } from './offloaded-exchange';

/** A larger Status is encoded in the worker. */
const STATUS_BYTES_MAX = 64 * 1_024;

export interface RequestServices {
  readonly answer: (exchange: Exchange) => Promise<Answer>;
  /** Encodes an element of a list. Throws if that fails. */
  readonly element: (request: ElementRequest) => Buffer | Promise<Buffer>;
  /** Returns the counters since the last call; undefined if nothing changed. */
  readonly takeMeasured: () => WorkerCounts | undefined;
  /** Converts an error to the one that the client sees. */
  readonly statusOf: (error: unknown, exchange: Exchange) => StatusError;
}

/** Answers the requests that arrive at the port, until it is closed. */
export function serveRequests(port: MessagePort, services: RequestServices): void {
  const server = new RequestServer(port, services);
  port.on('message', (message: ToThread) => server.take(message));
  port.postMessage({ kind: 'ready' } satisfies FromThread);
}

interface UnderWay {
  readonly exchange: OffloadedExchange;
  /** Set once the headers of a streamed answer are sent. */
  pieces?: AsyncIterator<Buffer>;
}

class RequestServer {
  readonly #port: MessagePort;
  readonly #services: RequestServices;
  readonly #underWay = new Map<number, UnderWay>();

  constructor(port: MessagePort, services: RequestServices) {
    this.#port = port;
    this.#services = services;
  }

  take(message: ToThread): void {
    if (message.kind === 'request') void this.#serve(message);
    else if (message.kind === 'element') void this.#element(message);
    else if (message.kind === 'abort') this.#abort(message);
    else void this.#next(message.number);
  }

  async #serve({ number, request }: ToThread & { readonly kind: 'request' }): Promise<void> {
    const exchange = new OffloadedExchange(request);
    this.#underWay.set(number, { exchange });
    // An abort message that was sent meanwhile arrives first.
    await nextTurn();
    try {
      exchange.signal.throwIfAborted();
      this.#send({ kind: 'begun', number });
      const answer = await this.#services.answer(exchange);
      this.#tellMeasured();
      await this.#tell(number, exchange, answer);
    } catch (error) {
      this.#tellMeasured();
      const refused = this.#services.statusOf(error, exchange);
      const why = error instanceof StatusError ? refused.cause : error;
      const remarks = await remarksOf(exchange);
      this.#send({
        kind: 'refusal',
        number,
        refusal: refusalOf(refused, exchange),
        cause: why instanceof Error ? (why.stack ?? why.message) : '',
        isUnforeseen: !(error instanceof StatusError) && refused.status.reason === 'InternalError',
        ...remarks,
      });
      this.#over(number);
    }
  }

  async #element({ number, request }: ToThread & { readonly kind: 'element' }): Promise<void> {
    let bytes: Buffer | undefined;
    try {
      bytes = await this.#services.element(withBuffers(request) as ElementRequest);
    } catch {
      // The caller can encode it on the event loop.
    }
    this.#send({ kind: 'element', number, bytes });
  }

  async #tell(number: number, exchange: OffloadedExchange, { code, headers, body }: Answer): Promise<void> {
    const head = { kind: 'answer', number, code, headers, ...(await remarksOf(exchange)) } as const;
    if (Buffer.isBuffer(body)) {
      this.#send({ ...head, body });
      this.#over(number);
      return;
    }
    exchange.signal.throwIfAborted();
    this.#underWay.set(number, { exchange, pieces: body[Symbol.asyncIterator]() });
    this.#send({ ...head, body: undefined });
  }

  async #next(number: number): Promise<void> {
    const pieces = this.#underWay.get(number)?.pieces;
    if (pieces === undefined) return;
    try {
      const step = await pieces.next();
      if (step.done !== true) {
        this.#send({ kind: 'piece', number, bytes: step.value });
        return;
      }
      this.#send({ kind: 'end', number, why: undefined });
    } catch (error) {
      this.#send({ kind: 'end', number, why: error instanceof Error ? error.message : String(error) });
    }
    this.#over(number);
  }

  #abort({ number, status }: ToThread & { readonly kind: 'abort' }): void {
    const underWay = this.#underWay.get(number);
    if (underWay === undefined) return;
    underWay.exchange.abort(status === undefined ? new ClientGoneError() : fromStatus(status));
    // A stream without a reader ends here; a pending answer ends by its signal.
    if (underWay.pieces === undefined) return;
    underWay.pieces.return?.().catch(() => undefined);
    this.#over(number);
  }

  /** Sent before the answer, so that a client that has it finds it counted. */
  #tellMeasured(): void {
    const measured = this.#services.takeMeasured();
    if (measured !== undefined) this.#send({ kind: 'measured', measured });
  }

  #over(number: number): void {
    this.#underWay.get(number)?.exchange.end();
    this.#underWay.delete(number);
  }

  #send(message: FromThread): void {
    const transfers: ArrayBuffer[] = [];
    this.#port.postMessage(portable(message, transfers), transfers);
  }
}

function refusalOf(error: StatusError, exchange: Exchange): Refusal {
  const { headers, body } = statusAnswer(error, exchange);
  if (!Buffer.isBuffer(body) || body.length <= STATUS_BYTES_MAX) return { status: error.status };
  return { short: shortened(error.status), headers, body };
}

async function remarksOf({ warnings, audit }: OffloadedExchange): Promise<Remarks> {
  // A failed audit note must not prevent the answer.
  const notes = audit === undefined ? [] : await audit.notes().catch(() => []);
  return { warnings, notes };
}
