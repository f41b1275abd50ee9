import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { constants } from 'node:http2';
import { FrameError, MessageReader, writeFrameHead } from './frame';
import type { CallStatus } from './status';
import { OK, refusalIn, statusIn } from './status';
import type { PendingCall } from './http2-connection';
import type { CallTarget } from './http2-call';
import { requestHeaders } from './http2-call';
import type { Method, ResponseStream, StreamOptions } from './transport';
import { STATUS, STREAM_BYTES_AHEAD_MAX, TransportError } from './transport';

interface Parts<Request, Response> {
  readonly target: CallTarget;
  readonly method: Method<Request, Response>;
  readonly request: Request;
  readonly options: StreamOptions;
}

/** A stream in both directions of which the client sends one message and reads many. */
export class MessageStream<Request, Response> implements ResponseStream<Response>, PendingCall {
  readonly #parts: Parts<Request, Response>;
  readonly #reader = new MessageReader();
  #stream: ClientHttp2Stream | undefined;
  #streamError: Error | undefined;
  #status: CallStatus | undefined;
  #ending: { readonly error: TransportError | undefined } | undefined;
  #wake = noReaderWaits;

  constructor(parts: Parts<Request, Response>) {
    this.#parts = parts;
    parts.target.connection.submit(this);
  }

  begin(): void {
    const { target, method, request, options } = this.#parts;
    const headers = requestHeaders(target, method.path, options.token);
    const frame = writeFrameHead(method.encode(request));
    const stream = target.connection.request(headers, () => {
      this.#onClose(stream);
    });
    this.#stream = stream;
    stream.on('response', (head) => {
      this.#onResponse(head);
    });
    stream.on('data', (chunk: Buffer) => {
      this.#onData(chunk);
    });
    stream.on('trailers', (trailers) => {
      this.#status = statusIn(trailers);
    });
    stream.on('error', (error) => {
      this.#streamError = error;
    });
    stream.on('end', () => {
      if (this.#status !== undefined) this.#onStatus(this.#status);
    });
    stream.write(frame);
  }

  fail(error: TransportError): void {
    this.#end(error);
  }

  cancel(): void {
    this.#end(
      this.#error({ code: STATUS.cancelled, details: 'The caller gave up.' }, this.#stream !== undefined),
    );
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Response[]> {
    try {
      for (;;) {
        const batch = this.#takeAll();
        if (batch.length > 0) {
          yield batch;
        } else if (this.#ending !== undefined) {
          if (this.#ending.error !== undefined) throw this.#ending.error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      this.cancel();
    }
  }

  /** A malformed message ends the stream after the messages before it. */
  #takeAll(): Response[] {
    const batch: Response[] = [];
    try {
      for (const message of this.#reader.takeAll()) batch.push(this.#parts.method.decode(message));
    } catch (error) {
      const details = `The answer is malformed: ${(error as Error).message}.`;
      this.#end(this.#error({ code: STATUS.internal, details }, true));
    }
    if (this.#stream?.isPaused() === true) this.#stream.resume();
    return batch;
  }

  #onResponse(headers: IncomingHttpHeaders): void {
    this.#status = statusIn(headers);
    const refusal = this.#status === undefined ? refusalIn(headers) : undefined;
    if (refusal !== undefined) this.#onStatus(refusal);
  }

  #onData(chunk: Buffer): void {
    if (this.#ending !== undefined) return;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#onStatus({ code: STATUS.internal, details: error.message });
    }
    if (this.#reader.completeBytes === 0) return;
    if (this.#reader.completeBytes >= STREAM_BYTES_AHEAD_MAX) this.#stream?.pause();
    this.#wake();
  }

  /** A stream that closes before its end was read has lost messages, even with status OK. */
  #onClose(stream: ClientHttp2Stream): void {
    if (this.#status !== undefined && this.#status.code !== OK) this.#onStatus(this.#status);
    if (this.#ending === undefined)
      this.#end(this.#parts.target.connection.whyEnded(stream, this.#streamError));
  }

  #onStatus(status: CallStatus): void {
    if (status.code !== OK) {
      this.#end(this.#error(status, true));
    } else if (this.#reader.isMidMessage) {
      this.#end(
        this.#error({ code: STATUS.internal, details: 'The answer ends in the middle of a message.' }, true),
      );
    } else {
      this.#end(undefined);
    }
  }

  /** The first end counts. The client never ends its side by itself, so the stream is cancelled however it ended. */
  #end(error: TransportError | undefined): void {
    if (this.#ending !== undefined) return;
    this.#ending = { error };
    if (this.#stream === undefined) {
      this.#parts.target.connection.withdraw(this);
    } else {
      this.#stream.close(constants.NGHTTP2_CANCEL);
      // A stream that the server has ended closes only after it was read to its end.
      this.#stream.resume();
    }
    this.#wake();
  }

  #error({ code, details }: CallStatus, mayHaveRun: boolean): TransportError {
    return new TransportError({ code, details, endpoint: this.#parts.target.endpoint, mayHaveRun });
  }
}

/** A stream that could not begin. */
export function brokenStream<Response>(error: TransportError): ResponseStream<Response> {
  return {
    cancel: () => undefined,
    [Symbol.asyncIterator]: () => ({
      async next() {
        return Promise.reject(error);
      },
    }),
  };
}

function noReaderWaits(): void {
  // The next read takes the buffered messages.
}
