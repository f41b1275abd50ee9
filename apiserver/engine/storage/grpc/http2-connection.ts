import * as http2 from 'node:http2';
import * as net from 'node:net';
import { performance } from 'node:perf_hooks';
import type { ClientTls } from '../../../../shared/client/connect-tls';
import { CERTIFICATE_ERROR, openTls } from '../../../../shared/client/connect-tls';
import type { CallStatus } from './status';
import { RESET_REFUSED, statusOfReset } from './status';
import { STATUS, TransportError } from './transport';

export interface ConnectionOptions {
  readonly endpoint: string;
  /** Trusted CAs and client certificate, for `https:`. */
  readonly clientTls: ClientTls | undefined;
  readonly dialTimeoutMs: number;
  readonly tuning: Tuning;
}

/** Limits that tests reduce. */
export interface Tuning {
  /** Minimum interval of keep-alive pings on a connection with calls in flight. etcd closes connections that ping more often than every 5 s. */
  readonly keepAliveMs: number;
  readonly pingTimeoutMs: number;
  /** A connection is replaced at this stream id, because HTTP/2 stream ids are finite. */
  readonly lastStreamId: number;
  /** Maximum number of calls that wait for a free stream. */
  readonly queuedCallsMax: number;
}

export const TUNING: Tuning = {
  keepAliveMs: 10_000,
  pingTimeoutMs: 5_000,
  lastStreamId: 2 ** 30,
  queuedCallsMax: 10_000,
};

/** A call that begins when the server allows one more stream, or fails without having begun. */
export interface PendingCall {
  /** Makes its request; it may throw as long as the request is not made. */
  begin(): void;
  fail(error: TransportError): void;
}

/** Flow-control window of a stream. */
const WINDOW_BYTES = 4 * 1024 * 1024;
/** A connection with calls in flight is pinged when it received nothing for this long. */
const QUIET_MS = 1_000;
/** The scheme of Unix sockets; the path follows. */
const UNIX = /^unix:(?:\/\/)?/;
/** Time for the last bytes to be sent. */
const LINGER_MS = 1_000;

/**
 * One HTTP/2 session from dialling to its end. It is open until the server, a failure or the numbers of its streams say
 * otherwise; calls that began by then still end in good order if the server lets them.
 */
export class Http2Connection {
  /** Resolves when the server has shown that it speaks HTTP/2; rejects with a TransportError of a call that has not run. */
  readonly connected: Promise<void>;
  /** Resolves when nothing is left of it. */
  readonly ended: Promise<void>;
  readonly #options: ConnectionOptions;
  /** The socket has its own listeners: a session with unsent bytes may report a failed socket late or never. */
  readonly #socket: net.Socket;
  readonly #session: http2.ClientHttp2Session;
  readonly #queue = new Set<PendingCall>();
  readonly #keepAlive: NodeJS.Timeout;
  #streams = 0;
  #isConnected = false;
  #isRetired = false;
  #isPinging = false;
  #bytesSeen = 0;
  #nextPingMs = 0;
  #hasAnsweredOne = false;
  #goaway: { readonly lastStreamId: number; readonly words: string } | undefined;
  #failure: CallStatus | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { socket, verified } = openSocket(options);
    this.#socket = socket;
    this.#session = http2.connect(options.endpoint, {
      createConnection: () => this.#socket,
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
      // Node counts the bytes of requests in flight, and would refuse streams beyond 10 MB.
      maxSessionMemory: Number.MAX_SAFE_INTEGER,
    });
    this.#session.once('connect', () => {
      if (!this.#session.destroyed) this.#session.setLocalWindowSize(WINDOW_BYTES);
    });
    this.#session.on('remoteSettings', () => {
      if (this.isOpen) this.#beginNext();
    });
    this.#session.on('goaway', (code, lastStreamId, data) => {
      this.#onGoaway(code, lastStreamId, wordsOf(data));
    });
    this.#keepAlive = setInterval(
      () => {
        this.#watchOver();
      },
      Math.min(QUIET_MS, options.tuning.keepAliveMs),
    ).unref();
    this.connected = this.#dial(verified);
    this.ended = new Promise((resolve) => {
      this.#socket.once('close', () => {
        clearInterval(this.#keepAlive);
        this.#session.destroy();
        this.#failQueue();
        resolve();
      });
    });
  }

  /** Whether a call may begin here now. */
  get isOpen(): boolean {
    return this.#isConnected && !this.#isRetired && !this.#session.closed && !this.#session.destroyed;
  }

  /** Whether the server has ever brought a call to its end. */
  get hasAnswered(): boolean {
    return this.#hasAnsweredOne;
  }

  /** Begins the call at once or when a stream is free; fails it when there are too many already. */
  submit(call: PendingCall): void {
    if (!this.isOpen) {
      call.fail(this.#notRun('No connection is open.'));
    } else if (this.#streams < this.#streamsMax) {
      this.#begin(call);
    } else if (this.#queue.size < this.#options.tuning.queuedCallsMax) {
      this.#queue.add(call);
    } else {
      call.fail(this.#notRun('Too many calls are waiting for a free stream.'));
    }
  }

  /** Forgets a call that has not begun. */
  withdraw(call: PendingCall): void {
    this.#queue.delete(call);
  }

  /** To be used by a call that begins, right then. `onClose` comes last of all, however the stream ends. */
  request(headers: http2.OutgoingHttpHeaders, onClose: () => void): http2.ClientHttp2Stream {
    const stream = this.#session.request(headers);
    this.#streams++;
    stream.on('close', () => {
      this.#streams--;
      const isComplete = stream.rstCode === http2.constants.NGHTTP2_NO_ERROR && !this.#session.destroyed;
      this.#hasAnsweredOne ||= isComplete;
      if (this.isOpen) this.#beginNext();
      else if (this.#streams === 0) this.#endSoon();
      onClose();
    });
    if ((stream.id ?? 0) >= this.#options.tuning.lastStreamId) this.#retire();
    return stream;
  }

  /** Why a stream ended that brought no status. */
  whyEnded(stream: http2.ClientHttp2Stream, streamError: Error | undefined): TransportError {
    const goaway = this.#goaway;
    const failure = this.#failure;
    if (goaway !== undefined && stream.id !== undefined && stream.id > goaway.lastStreamId) {
      return this.#notRun(`The server is going away${goaway.words}.`);
    }
    if (failure !== undefined) return this.#mayHaveRun(failure);
    const reset = stream.rstCode;
    if (reset === RESET_REFUSED) return this.#notRun('The server refused the stream.');
    if (this.#session.destroyed) {
      const why = streamError === undefined ? '' : `: ${streamError.message}`;
      return this.#mayHaveRun({ code: STATUS.unavailable, details: `The connection was lost${why}.` });
    }
    if (reset !== http2.constants.NGHTTP2_NO_ERROR) return this.#mayHaveRun(statusOfReset(reset));
    return this.#mayHaveRun({ code: STATUS.internal, details: 'The answer ended without a status.' });
  }

  /** Accepts no new calls and closes after the last call in flight (drain). */
  #retire(): void {
    this.#isRetired = true;
    this.#failQueue();
    if (this.#streams === 0) this.#endSoon();
  }

  /** Ends it at once, and all calls with this status. */
  destroy(status: CallStatus): void {
    this.#failure ??= status;
    this.#session.destroy();
    this.#socket.destroy();
  }

  get #streamsMax(): number {
    return this.#session.remoteSettings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY;
  }

  #beginNext(): void {
    if (this.#queue.size === 0) return;
    for (const call of this.#queue) {
      if (this.#streams >= this.#streamsMax) return;
      this.#queue.delete(call);
      this.#begin(call);
    }
  }

  #begin(call: PendingCall): void {
    try {
      call.begin();
    } catch (error) {
      call.fail(this.#notRun((error as Error).message));
    }
  }

  /** Sends GOAWAY, which would overtake requests in flight if there were any, and then closes without waiting for the server. */
  #endSoon(): void {
    this.#session.close();
    setTimeout(() => {
      this.#socket.destroy();
    }, LINGER_MS).unref();
  }

  #failQueue(): void {
    const calls = [...this.#queue];
    this.#queue.clear();
    for (const call of calls) call.fail(this.#notRun('The connection went away before the call began.'));
  }

  async #dial(verified: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (details: string): void => {
        clearTimeout(timer);
        reject(this.#notRun(details));
      };
      const timer = setTimeout(() => {
        fail('No connection was made in time.');
        this.#socket.destroy();
      }, this.#options.dialTimeoutMs);
      const onError = (error: Error): void => {
        const details = textOf(error);
        fail(details);
        this.destroy({ code: STATUS.unavailable, details: `The connection failed: ${details}.` });
      };
      const onVerified = (): void => {
        clearTimeout(timer);
        this.#isConnected = true;
        resolve();
      };
      // Only the first SETTINGS frame shows that the server speaks HTTP/2; later ones are updates.
      this.#session.once('remoteSettings', () => void verified.then(onVerified, onError));
      this.#socket.on('error', onError);
      this.#session.on('error', onError);
      this.#socket.once('close', () => {
        fail('The connection was closed before it was established.');
      });
    });
  }

  #onGoaway(code: number, lastStreamId: number, words: string): void {
    this.#goaway = { lastStreamId, words };
    if (code !== http2.constants.NGHTTP2_NO_ERROR) {
      const details = `The server ended the connection (code ${String(code)})${words}.`;
      this.#failure ??= { code: STATUS.unavailable, details };
    }
    this.#retire();
  }

  /** Over TLS, Node may miss a reset during a write and emit no event, so quiet connections are pinged. */
  #watchOver(): void {
    const { bytesRead } = this.#socket;
    const isQuiet = bytesRead === this.#bytesSeen;
    this.#bytesSeen = bytesRead;
    if (this.#streams === 0 || this.#isPinging || this.#session.destroyed) return;
    if (isQuiet && performance.now() >= this.#nextPingMs) this.#ping();
  }

  #ping(): void {
    this.#isPinging = true;
    const { keepAliveMs, pingTimeoutMs } = this.#options.tuning;
    this.#nextPingMs = performance.now() + keepAliveMs;
    let { bytesRead } = this.#socket;
    const timer = setInterval(() => {
      // After an event-loop delay the answer may be unread in the socket, so one turn of the event loop processes it first.
      setImmediate(() => {
        if (!this.#isPinging) return;
        if (this.#socket.bytesRead !== bytesRead) {
          // The connection is alive; on a slow line the PING answer follows megabytes of other data.
          ({ bytesRead } = this.#socket);
          return;
        }
        clearInterval(timer);
        const details = `The server did not answer a ping within ${String(pingTimeoutMs)} ms.`;
        this.destroy({ code: STATUS.unavailable, details });
      });
    }, pingTimeoutMs).unref();
    this.#session.ping(() => {
      this.#isPinging = false;
      clearInterval(timer);
    });
  }

  #notRun(details: string): TransportError {
    const { endpoint } = this.#options;
    return new TransportError({ code: STATUS.unavailable, details, endpoint, mayHaveRun: false });
  }

  #mayHaveRun({ code, details }: CallStatus): TransportError {
    const { endpoint } = this.#options;
    return new TransportError({ code, details, endpoint, mayHaveRun: true });
  }
}

/** Over TLS, `verified` resolves once the server is verified; no call begins before. */
function openSocket({ endpoint, clientTls }: ConnectionOptions): {
  readonly socket: net.Socket;
  readonly verified: Promise<void>;
} {
  const verified = Promise.resolve();
  if (UNIX.test(endpoint)) return { socket: net.connect({ path: endpoint.replace(UNIX, '') }), verified };
  const url = new URL(endpoint);
  const isSecure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  if (!isSecure) return { socket: net.connect({ host, port }), verified };
  return openTls({ ...clientTls, host, port, ALPNProtocols: ['h2'] });
}

function wordsOf(data: NodeJS.ArrayBufferView | undefined): string {
  if (data === undefined || data.byteLength === 0) return '';
  const text = Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, 200)).toString('latin1');
  return `: ${text}`;
}

/** OpenSSL's messages name source files; its reason is what helps. A name with several addresses fails with one error for each. */
function textOf(error: NodeJS.ErrnoException & { readonly reason?: string }): string {
  if (error instanceof AggregateError) return error.errors.map((each: Error) => textOf(each)).join(', ');
  const { code, message, reason = message } = error;
  return code === undefined || code === CERTIFICATE_ERROR || reason.includes(code)
    ? reason
    : `${reason} (${code})`;
}
