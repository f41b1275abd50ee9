import type { OutgoingHttpHeader } from 'node:http';
import type { Log } from '../../../shared/log/log';
import type { Answer, Exchange } from '../request/exchange';
import { FLOW_HEADER } from '../../../shared/names';
import { LENT_BYTES_MIN } from '../request/exchange';
import type { SlowReaderCause } from '../request/slow-reader-error';
import { SlowReaderError } from '../request/slow-reader-error';
import type { BrowserRules } from './browser-rules';
import { browserHeaders } from './browser-rules';
import type { ConnectionCounts } from './connection-counts';
import type { HeldPart, RequestMemory } from './held-bytes';
import { holdUntilOver } from './held-bytes';
import { ANSWER_PIECE_BYTES } from './limits';
import { warningHeaders } from './warning-header';
import type { WireResponse } from './wire';
import { FRAME_PART_BYTES, PART_BYTES, writeInParts } from './write-in-parts';

export interface WriterOptions {
  readonly log: Log;
  /** Milliseconds after which a client that takes nothing of a streamed answer is disconnected. */
  readonly stallMsMax: number;
  readonly memory: Pick<RequestMemory, 'answers'>;
  readonly counts: Pick<ConnectionCounts, 'slowReaders'>;
  /** Undefined: no headers for browsers. */
  readonly browsers?: BrowserRules | undefined;
}

/** The request that an answer belongs to. It is notified of the progress. */
export interface AnswerOwner {
  readonly response: WireResponse;
  readonly exchange: Exchange;
  readonly options: WriterOptions;
  /** The headers are sent. */
  headSent(): void;
  /** The whole answer was passed to the connection. Not called if the answer was cut or the client disconnected. */
  answerEnded(): void;
  /** The stream failed before anything was written, so that an error can still be answered. */
  streamRefused(error: unknown): void;
}

/**
 * Writes an answer, or starts to stream it. Throws only while nothing is written yet. An error in the middle of a
 * stream destroys the connection, so that the client cannot take the part for the whole.
 */
export function writeAnswer(owner: AnswerOwner, answer: Answer): void {
  const { response, exchange, options } = owner;
  if (response.destroyed) return;
  const { body } = answer;
  if (Buffer.isBuffer(body)) {
    const isHead = exchange.method === 'HEAD';
    if (!isHead) {
      const evict = (): void => {
        disconnectSlowReader(owner, 'memory');
      };
      holdUntilOver(options.memory.answers, exchange, { bytes: body.length, evict });
      if (response.destroyed) return;
    }
    if (isHead || body.length <= ANSWER_PIECE_BYTES) {
      writeHead(owner, answer);
      response.end(isHead ? undefined : body);
      owner.answerEnded();
    } else new Stream(owner, answer, piecesOf(body)).begin();
    return;
  }
  const iterator = body[Symbol.asyncIterator]();
  if (exchange.method === 'HEAD') {
    writeHead(owner, answer);
    response.end();
    closeIterator(iterator, options.log);
    owner.answerEnded();
    return;
  }
  new Stream(owner, answer, iterator).begin();
}

const NO_CONTENT = 204;

function piecesOf(body: Buffer): AsyncIterator<Buffer> {
  let at = 0;
  return {
    next: async () => {
      const piece = body.subarray(at, at + ANSWER_PIECE_BYTES);
      at += piece.length;
      return Promise.resolve(
        piece.length > 0 ? { done: false, value: piece } : { done: true, value: undefined },
      );
    },
  };
}

function writeHead({ response, exchange, options }: AnswerOwner, answer: Answer): void {
  response.writeHead(answer.code, headersOf(exchange, answer, options.browsers));
}

/** The headers of a response, names and values alternating. */
export function headersOf(exchange: Exchange, answer: Answer, browsers?: BrowserRules): OutgoingHttpHeader[] {
  const headers: OutgoingHttpHeader[] =
    'Cache-Control' in answer.headers ? [] : ['Cache-Control', 'no-cache, private'];
  for (const name of Object.keys(answer.headers)) {
    const value = answer.headers[name];
    if (typeof value === 'string') headers.push(name, value);
    else for (const each of value ?? []) headers.push(name, each);
  }
  if (browsers !== undefined) headers.push(...browserHeaders(browsers, exchange, answer));
  if (Buffer.isBuffer(answer.body) && answer.code !== NO_CONTENT)
    headers.push('Content-Length', answer.body.length);
  if (exchange.audit !== undefined) headers.push('Audit-Id', exchange.audit.id);
  if (exchange.flow !== undefined) {
    const { schemaUid, levelUid } = exchange.flow;
    headers.push(FLOW_HEADER.priorityLevel, levelUid, FLOW_HEADER.schema, schemaUid);
  }
  if (exchange.warnings.length > 0) {
    for (const warning of warningHeaders(exchange.warnings)) headers.push('Warning', warning);
  }
  return headers;
}

/** Closes an iterator early, without waiting for a `next` that is still pending. */
function closeIterator(iterator: AsyncIterator<Buffer>, log: Log): void {
  iterator.return?.().catch((error: unknown) => {
    log.warn({ error }, 'response failed while it was being closed');
  });
}

/**
 * Streams one answer with backpressure: pulls a piece, writes it, waits for the client to take it, pulls the next. It
 * uses callbacks because an open watch waits here: suspended async functions would take several kilobytes per watch,
 * and a dozen promises per event.
 */
class Stream {
  readonly #owner: AnswerOwner;
  readonly #answer: Answer;
  readonly #iterator: AsyncIterator<Buffer>;
  /** Nothing more is written: the answer is complete or the connection is closed. */
  #isOver = false;
  #headAlone: NodeJS.Immediate | undefined = undefined;

  constructor(owner: AnswerOwner, answer: Answer, iterator: AsyncIterator<Buffer>) {
    this.#owner = owner;
    this.#answer = answer;
    this.#iterator = iterator;
  }

  begin(): void {
    this.#owner.response.on('close', this.#onClose);
    // The headers are sent with the first piece, or alone if that takes longer than a turn of the event loop.
    this.#headAlone = setImmediate(this.#sendHeadAlone);
    this.#pull();
  }

  /**
   * Pulls the next piece. Event listeners call it, so an iterator that throws instead of rejecting must be caught
   * here.
   */
  #pull(): void {
    if (this.#isOver) return;
    try {
      this.#iterator.next().then(this.#onStep, this.#onError);
    } catch (error) {
      this.#onError(error);
    }
  }

  readonly #onStep = (step: IteratorResult<Buffer, unknown>): void => {
    if (this.#isOver) return;
    try {
      this.#sendHead();
      if (step.done === true) this.#end();
      else if (step.value.length === 0 || this.#write(step.value)) this.#pull();
    } catch (error) {
      closeIterator(this.#iterator, this.#owner.options.log);
      this.#onError(error);
    }
  };

  #end(): void {
    this.#owner.response.end();
    this.#stop();
    this.#owner.answerEnded();
  }

  readonly #onError = (error: unknown): void => {
    if (this.#isOver) return;
    this.#stop();
    const { response, exchange, options } = this.#owner;
    if (!response.headersSent) {
      this.#owner.streamRefused(error);
      return;
    }
    options.log.warn({ id: exchange.id, path: exchange.path, error }, 'streamed response aborted');
    response.destroy();
  };

  readonly #onClose = (): void => {
    this.#stop();
    closeIterator(this.#iterator, this.#owner.options.log);
  };

  #stop(): void {
    this.#isOver = true;
    clearImmediate(this.#headAlone);
    this.#owner.response.off('close', this.#onClose);
  }

  /**
   * Sends the headers before the first piece. A timer callback must not throw, so headers that cannot be written
   * destroy the connection.
   */
  readonly #sendHeadAlone = (): void => {
    const { response, exchange, options } = this.#owner;
    try {
      this.#sendHead();
      response.flushHeaders();
    } catch (error) {
      const { id, path } = exchange;
      options.log.error({ id, path, error }, 'failed to write the response headers');
      response.destroy();
    }
  };

  #sendHead(): void {
    clearImmediate(this.#headAlone);
    this.#headAlone = undefined;
    if (this.#owner.response.headersSent) return;
    writeHead(this.#owner, this.#answer);
    this.#owner.headSent();
  }

  /**
   * Writes a piece. Returns true if the next piece can be written at once; otherwise it is pulled later: a small
   * piece may stay in a buffer, a lent piece must be flushed first, because its memory is reused. Destroys the
   * connection of a slow reader and when the exchange is aborted.
   */
  #write(piece: Buffer): boolean {
    const { response, exchange, options } = this.#owner;
    const isLent = piece.length >= LENT_BYTES_MIN;
    if (!isLent && response.write(piece)) return true;
    const { signal } = exchange;
    const { answers } = options.memory;
    const isWatch = this.#answer.messages !== undefined;
    const held = this.#hold(piece, isWatch);
    if (held?.isReleased === true) return false;
    const settle = (): void => {
      clearTimeout(timer);
      if (held !== undefined) answers.release(held);
      response.off('drain', done).off('close', settle);
      signal.removeEventListener('abort', cut);
    };
    const done = (): void => {
      settle();
      this.#pull();
    };
    const cut = (): void => {
      response.destroy();
    };
    const timer = setTimeout(() => {
      disconnectSlowReader(this.#owner, 'stalled');
    }, options.stallMsMax);
    const progressed = (): void => {
      timer.refresh();
      if (held !== undefined) answers.progressed(held);
    };
    // After an error, `close` follows. Continuing before it would suppress it.
    if (isLent) writeInParts(response, piece, { progressed, done }, isWatch ? FRAME_PART_BYTES : PART_BYTES);
    else response.on('drain', done);
    response.on('close', settle);
    signal.addEventListener('abort', cut);
    if (signal.aborted) cut();
    return false;
  }

  /** Counts a piece until it is taken. The connection copies one part of a frame; the frame itself is shared. */
  #hold(piece: Buffer, isWatch: boolean): HeldPart | undefined {
    const { exchange, options } = this.#owner;
    // A body that is a buffer is already counted as a whole.
    if (Buffer.isBuffer(this.#answer.body)) return undefined;
    return options.memory.answers.hold(exchange.user, {
      bytes: isWatch ? Math.min(piece.length, FRAME_PART_BYTES) : piece.length,
      shared: isWatch ? piece : undefined,
      isWatch,
      evict: () => {
        disconnectSlowReader(this.#owner, 'memory');
      },
    });
  }
}

/** Disconnects a client that does not read its answer. */
function disconnectSlowReader({ exchange, response, options }: AnswerOwner, cause: SlowReaderCause): void {
  options.counts.slowReaders += 1;
  exchange.abort(new SlowReaderError(cause));
  response.destroy();
}
