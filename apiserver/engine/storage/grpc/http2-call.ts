import type { ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import { constants } from 'node:http2';
import { FrameError, MessageReader, writeFrameHead } from './frame';
import type { CallStatus } from './status';
import { OK, refusalIn, statusIn, timeoutHeader } from './status';
import type { Http2Connection, PendingCall } from './http2-connection';
import type { Method, UnaryOptions } from './transport';
import { STATUS, TransportError } from './transport';

export interface CallTarget {
  readonly connection: Http2Connection;
  readonly endpoint: string;
  /** The pseudo-headers that are the same for all calls. */
  readonly authority: string;
  readonly scheme: string;
}

const ONCE = { once: true } as const;

/** One request and one answer, as `Transport.unary` promises. It is on the path of every write, so it creates only one promise. */
export function unaryCall<Request, Response>(
  target: CallTarget,
  method: Method<Request, Response>,
  request: Request,
  options: UnaryOptions,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    new UnaryCall({ target, method, request, options, resolve, reject }).submit();
  });
}

/** `hasleader` makes an etcd member without quorum refuse at once instead of after a timeout. Other servers ignore it. */
export function requestHeaders(
  target: CallTarget,
  path: string,
  token: string | undefined,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    ':method': 'POST',
    ':scheme': target.scheme,
    ':authority': target.authority,
    ':path': path,
    te: 'trailers',
    'content-type': 'application/grpc',
    'user-agent': 'orch',
    hasleader: 'true',
  };
  if (token !== undefined) headers['token'] = token;
  return headers;
}

interface Parts<Request, Response> {
  readonly target: CallTarget;
  readonly method: Method<Request, Response>;
  readonly request: Request;
  readonly options: UnaryOptions;
  readonly resolve: (response: Response) => void;
  readonly reject: (error: Error) => void;
}

class UnaryCall<Request, Response> implements PendingCall {
  readonly #parts: Parts<Request, Response>;
  readonly #frame: Buffer;
  readonly #reader = new MessageReader();
  readonly #timer: NodeJS.Timeout;
  #stream: ClientHttp2Stream | undefined;
  #streamError: Error | undefined;
  /** The server has sent the status and ended the stream. */
  #isAnswered = false;
  #isSettled = false;

  constructor(parts: Parts<Request, Response>) {
    this.#parts = parts;
    this.#frame = writeFrameHead(parts.method.encode(parts.request));
    const { timeoutMs, signal } = parts.options;
    this.#timer = setTimeout(this.#onTimeout, timeoutMs);
    signal.addEventListener('abort', this.#onAbort, ONCE);
  }

  submit(): void {
    if (this.#parts.options.signal.aborted) this.#onAbort();
    else this.#parts.target.connection.submit(this);
  }

  begin(): void {
    const { target, method, options } = this.#parts;
    const headers = requestHeaders(target, method.path, options.token);
    headers['grpc-timeout'] = timeoutHeader(options.timeoutMs);
    const stream = target.connection.request(headers, this.#onClose);
    this.#stream = stream;
    stream.on('response', this.#onResponse);
    stream.on('data', this.#onData);
    stream.on('trailers', this.#onTrailers);
    stream.on('error', this.#onError);
    stream.end(this.#frame);
  }

  fail(error: TransportError): void {
    if (this.#settle()) this.#parts.reject(error);
  }

  readonly #onResponse = (headers: IncomingHttpHeaders, flags: number): void => {
    const status = statusIn(headers);
    if (status !== undefined) {
      this.#isAnswered = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      this.#onStatus(status);
      return;
    }
    const refusal = refusalIn(headers);
    if (refusal !== undefined) this.#reject(refusal, true);
  };

  readonly #onData = (chunk: Buffer): void => {
    if (this.#isSettled) return;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#reject({ code: STATUS.internal, details: error.message }, true);
    }
  };

  readonly #onTrailers = (headers: IncomingHttpHeaders): void => {
    this.#isAnswered = true;
    this.#onStatus(
      statusIn(headers) ?? { code: STATUS.unknown, details: 'The answer ended without a gRPC status.' },
    );
  };

  #onStatus(status: CallStatus): void {
    if (status.code !== OK) this.#reject(status, true);
    else if (this.#reader.completeBytes > 0) this.#onAnswer();
    else this.#stream?.once('end', this.#onAnswer);
  }

  readonly #onAnswer = (): void => {
    if (this.#isSettled) return;
    const messages = this.#reader.takeAll();
    const [message] = messages;
    if (message === undefined || messages.length > 1 || this.#reader.isMidMessage) {
      const rest = this.#reader.isMidMessage ? ' and a part of one' : '';
      const details = `The answer has ${String(messages.length)} messages${rest} where one was due.`;
      this.#reject({ code: STATUS.internal, details }, true);
      return;
    }
    let response: Response;
    try {
      response = this.#parts.method.decode(message);
    } catch (error) {
      const details = `The answer is malformed: ${(error as Error).message}.`;
      this.#reject({ code: STATUS.internal, details }, true);
      return;
    }
    if (this.#settle()) this.#parts.resolve(response);
  };

  readonly #onError = (error: Error): void => {
    this.#streamError = error;
  };

  readonly #onClose = (): void => {
    if (this.#isSettled || this.#stream === undefined) return;
    this.fail(this.#parts.target.connection.whyEnded(this.#stream, this.#streamError));
  };

  readonly #onAbort = (): void => {
    this.#reject({ code: STATUS.cancelled, details: 'The caller gave up.' }, this.#stream !== undefined);
  };

  readonly #onTimeout = (): void => {
    // After an event-loop delay the answer may be unread in the socket, so one turn of the event loop processes it first.
    setImmediate(() => {
      const details = `No answer came within ${String(Math.round(this.#parts.options.timeoutMs))} ms.`;
      this.#reject({ code: STATUS.deadlineExceeded, details }, this.#stream !== undefined);
    });
  };

  #reject({ code, details }: CallStatus, mayHaveRun: boolean): void {
    const { endpoint } = this.#parts.target;
    this.fail(new TransportError({ code, details, endpoint, mayHaveRun }));
  }

  /** False if the call was settled before. Cancels a stream that has not ended. */
  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#parts.options.signal.removeEventListener('abort', this.#onAbort);
    if (this.#stream === undefined) this.#parts.target.connection.withdraw(this);
    else if (!this.#isAnswered || !this.#stream.writableFinished)
      this.#stream.close(constants.NGHTTP2_CANCEL);
    return true;
  }
}
