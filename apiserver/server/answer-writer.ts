import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { Log } from '../../shared/log/log';
import type { Answer, Exchange } from '../exchange/exchange';
import { LENT_BYTES_MIN } from '../exchange/exchange';
import { SlowReaderError } from '../watch/slow-reader-error';
import { warningHeaders } from './warning-header';

export interface WriterOptions {
  readonly log: Log;
  /** How long a client may take nothing of a streamed answer before it is cut off. */
  readonly stallMsMax: number;
}

/**
 * Writes an answer. Resolves when everything was handed over or the client is gone. Rejects only while nothing is written yet; an
 * error in the middle of a stream cuts the connection, so that the client cannot take the part for the whole.
 */
export async function writeAnswer(
  response: ServerResponse,
  exchange: Exchange,
  answer: Answer,
  options: WriterOptions,
): Promise<void> {
  if (response.destroyed) return;
  if (Buffer.isBuffer(answer.body)) {
    writeHead(response, exchange, answer);
    response.end(exchange.method === 'HEAD' ? undefined : answer.body);
    return;
  }
  const iterator = answer.body[Symbol.asyncIterator]();
  if (exchange.method === 'HEAD') {
    writeHead(response, exchange, answer);
    response.end();
    closeIterator(iterator, options.log);
    return;
  }
  await new Stream(response, exchange, answer, iterator).run(options);
}

function writeHead(response: ServerResponse, exchange: Exchange, answer: Answer): void {
  const headers: OutgoingHttpHeader[] =
    'Cache-Control' in answer.headers ? [] : ['Cache-Control', 'no-cache, private'];
  for (const name of Object.keys(answer.headers)) {
    const value = answer.headers[name];
    if (typeof value === 'string') headers.push(name, value);
    else for (const each of value ?? []) headers.push(name, each);
  }
  if (Buffer.isBuffer(answer.body)) headers.push('Content-Length', answer.body.length);
  if (exchange.audit !== undefined) headers.push('Audit-Id', exchange.audit.id);
  if (exchange.warnings.length > 0) {
    for (const warning of warningHeaders(exchange.warnings)) headers.push('Warning', warning);
  }
  response.writeHead(answer.code, headers);
}

/** Ends an iteration early. It may still be waiting inside; its end is not waited for. */
function closeIterator(iterator: AsyncIterator<Buffer>, log: Log): void {
  iterator.return?.().catch((error: unknown) => {
    log.warn({ error }, 'an answer failed while it was being closed');
  });
}

/** One streamed answer: pulls a piece, writes it, waits for the client to take it, pulls the next. */
class Stream {
  private readonly response: ServerResponse;
  private readonly exchange: Exchange;
  private readonly answer: Answer;
  private readonly iterator: AsyncIterator<Buffer>;
  private isCut = false;

  // eslint-disable-next-line max-params -- the four parts of one answer on its way, made in one place
  constructor(response: ServerResponse, exchange: Exchange, answer: Answer, iterator: AsyncIterator<Buffer>) {
    this.response = response;
    this.exchange = exchange;
    this.answer = answer;
    this.iterator = iterator;
  }

  async run({ log, stallMsMax }: WriterOptions): Promise<void> {
    const onClose = (): void => {
      this.isCut = true;
      closeIterator(this.iterator, log);
    };
    this.response.once('close', onClose);
    // The head goes out with the first piece, or alone when that takes longer than a turn of the event loop.
    const headAlone = setImmediate(() => {
      this.sendHeadAlone(log);
    });
    try {
      await this.pump(headAlone, stallMsMax);
      this.response.off('close', onClose);
    } catch (error) {
      if (this.isCut) return;
      this.response.off('close', onClose);
      if (!this.response.headersSent) throw error;
      log.warn({ id: this.exchange.id, path: this.exchange.path, error }, 'a streamed answer was cut off');
      this.response.destroy();
    } finally {
      clearImmediate(headAlone);
    }
  }

  private async pump(headAlone: NodeJS.Immediate, stallMsMax: number): Promise<void> {
    while (!this.isCut) {
      const step = await this.iterator.next();
      if (this.isCut) return;
      clearImmediate(headAlone);
      this.start();
      if (step.done === true) {
        this.response.end();
        return;
      }
      if (step.value.length > 0) await this.write(step.value, stallMsMax);
    }
  }

  /** Nobody catches what a timer throws, so a head that cannot be written cuts the connection here. */
  private sendHeadAlone(log: Log): void {
    if (this.isCut) return;
    try {
      this.start();
      this.response.flushHeaders();
    } catch (error) {
      log.error(
        { id: this.exchange.id, path: this.exchange.path, error },
        'the head of an answer could not be written',
      );
      this.response.destroy();
    }
  }

  private start(): void {
    if (!this.response.headersSent && !this.isCut) writeHead(this.response, this.exchange, this.answer);
  }

  /**
   * Resolves when more can be written: a small piece may wait in a buffer, a large one has to be out, because its memory is used again.
   * Cuts the connection when the client stalls or the exchange is given up.
   */
  private async write(piece: Buffer, stallMsMax: number): Promise<void> {
    const { response } = this;
    const { signal } = this.exchange;
    const isLent = piece.length >= LENT_BYTES_MIN;
    if (!isLent && response.write(piece)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        response.off('drain', done).off('close', done);
        signal.removeEventListener('abort', cut);
        resolve();
      };
      const cut = (): void => {
        response.destroy();
      };
      const timer = setTimeout(() => {
        this.exchange.abort(new SlowReaderError());
        cut();
      }, stallMsMax);
      if (isLent) {
        // After an error the end of the connection follows; going on before it has come would never let it come.
        response.write(piece, (error) => {
          if (error === undefined || error === null) done();
        });
      } else response.once('drain', done);
      response.once('close', done);
      signal.addEventListener('abort', cut, { once: true });
      if (response.closed) done();
      else if (signal.aborted) cut();
    });
  }
}
