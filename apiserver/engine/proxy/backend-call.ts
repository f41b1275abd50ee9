import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { AllowsAddress } from '../../../shared/meta/ip-address';
import { checkLiteral, lookupOption } from '../../../shared/client/allowed-addresses';
import type { ClientTls } from '../../../shared/client/connect-tls';
import { connectTls } from '../../../shared/client/connect-tls';
import { ConnectionError } from '../../../shared/client/connection-error';
import { linkedAbort } from '../../../shared/concurrency/linked-abort';
import type { ConnectCounts } from './connect-counts';
import { countOpened } from './connect-counts';
import type { ForwardedHeaders } from './forwarded-headers';
import { HEAD_MS_MAX, IDLE_MS_MAX, TCP_KEEP_ALIVE_MS, UPGRADE_MS_MAX } from './limits';

/** A request to another server; both directions are streamed. */
export interface BackendCall {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  /** Whether an address of the host may be called; if one is refused, none is called. Absent: all may. */
  readonly allows?: AllowsAddress | undefined;
  /** Whether the request is for a host that a client chose: an unknown one is the fault of the request. */
  readonly isChecked?: boolean;
  /** The client certificate of this server, and how the other server is verified. */
  readonly tls: ClientTls;
  readonly method: string;
  /** The encoded path with the query. */
  readonly target: string;
  readonly headers: ForwardedHeaders;
  /** Absent: no body. */
  readonly body?: Readable | undefined;
  /** Whether to upgrade the connection. */
  readonly upgrade: boolean;
  /** The time limit to connect in milliseconds, TLS handshake included. */
  readonly dialMsMax: number;
  /** The time limit for the response headers in milliseconds; absent: minutes. */
  readonly headMsMax?: number | undefined;
  /** The label of the connection in metrics. */
  readonly purpose: string;
}

export type BackendAnswer =
  | {
      readonly is: 'answer';
      readonly code: number;
      readonly rawHeaders: readonly string[];
      /** The connection closes with the body, and when the reader stops early. */
      readonly body: AsyncIterable<Buffer>;
      /** Closes the connection. */
      readonly end: () => void;
    }
  | {
      readonly is: 'upgraded';
      readonly rawHeaders: readonly string[];
      readonly socket: Duplex;
      /** Bytes received after the response headers. */
      readonly head: Buffer;
      readonly end: () => void;
    };

const UNASKED = 'the server switched protocols without an upgrade request';

/** How long bytes of the client are still delivered after the end, in milliseconds. */
const FLUSH_MS_MAX = 1_000;

/**
 * Sends a request and resolves with the response headers. Each call has its own connection, which closes with it or when the signal aborts.
 * Throws ConnectionError if there is no answer, or the signal's reason.
 */
export async function callBackend(
  call: BackendCall,
  counts: ConnectCounts,
  signal: AbortSignal,
): Promise<BackendAnswer> {
  signal.throwIfAborted();
  checkLiteral(call.host, call.allows);
  // An error during the handshake must not be uncaught; `Pending` reads the state of the body afterwards.
  call.body?.on('error', () => undefined);
  const socket = call.scheme === 'https' ? await connectSecurely(call, counts, signal) : undefined;
  const options: RequestOptions = {
    host: call.host,
    port: call.port,
    method: call.method,
    path: call.target,
    headers: framedHeaders(call),
  };
  const request =
    socket === undefined
      ? httpRequest({ ...options, agent: false, ...lookupOption(call.allows) })
      : httpsRequest({ ...options, createConnection: () => socket });
  return new Promise((resolve, reject) => {
    new Pending(call, { request, counts, signal }).settle(resolve, reject);
  });
}

/** Connects to a verified server within the time limit, and counts the connection from its beginning. */
async function connectSecurely(
  call: BackendCall,
  counts: ConnectCounts,
  outer: AbortSignal,
): Promise<TLSSocket> {
  const { host, port, tls, allows, dialMsMax, purpose } = call;
  const onClosed = countOpened(counts, purpose);
  const { signal, abort, unlink } = linkedAbort(outer);
  const timer = setTimeout(() => {
    abort(new ConnectionError('i/o timeout', { code: 'ETIMEOUT', outcomeUnknown: false }));
  }, dialMsMax).unref();
  try {
    const socket = await connectTls({ ...tls, host, port, ...lookupOption(allows) }, signal);
    socket.once('close', onClosed);
    return socket;
  } catch (error) {
    onClosed();
    throw outer.aborted ? outer.reason : connectionErrorOf(error as Error);
  } finally {
    clearTimeout(timer);
    unlink();
  }
}

/**
 * Adds headers that delimit the body, against request smuggling: Node writes the body of a GET or DELETE without a length as it is, and the
 * other server would parse it as another request, which was not authorized.
 */
function framedHeaders({ headers, body }: BackendCall): Record<string, string | string[]> {
  const framed = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
  if (body === undefined) delete framed['content-length'];
  else if (framed['content-length'] === undefined) framed['transfer-encoding'] = 'chunked';
  return framed;
}

interface PendingParts {
  readonly request: ClientRequest;
  readonly counts: ConnectCounts;
  readonly signal: AbortSignal;
}

/** A call that waits for its response headers. */
class Pending {
  readonly #call: BackendCall;
  readonly #parts: PendingParts;
  #timer: NodeJS.Timeout | undefined;
  #isSettled = false;

  constructor(call: BackendCall, parts: PendingParts) {
    this.#call = call;
    this.#parts = parts;
  }

  settle(resolve: (answer: BackendAnswer) => void, reject: (error: Error) => void): void {
    const { request, signal } = this.#parts;
    const { body, dialMsMax, upgrade } = this.#call;
    const onAbort = (): void => {
      request.destroy(signal.reason as Error);
    };
    const done = (): boolean => {
      if (this.#isSettled) return false;
      this.#isSettled = true;
      clearTimeout(this.#timer);
      return true;
    };
    signal.addEventListener('abort', onAbort, { once: true });
    this.#endAfter(dialMsMax, 'i/o timeout');
    request.on('socket', (socket) => this.#adopt(socket));
    request.on('response', (response) => {
      if (done()) resolve(answerOf(response));
    });
    request.on('upgrade', (response, socket, head) => {
      if (upgrade && done()) {
        const { rawHeaders } = response;
        resolve({ is: 'upgraded', rawHeaders, socket, head, end: () => endSoon(socket) });
        return;
      }
      socket.destroy();
      if (done()) reject(new ConnectionError(UNASKED, { code: 'ECONNRESET', outcomeUnknown: false }));
    });
    request.on('error', (error) => {
      if (done()) reject(signal.aborted ? (signal.reason as Error) : connectionErrorOf(error));
    });
    request.on('close', () => {
      signal.removeEventListener('abort', onAbort);
      if (done()) reject(new ConnectionError('EOF', { code: 'ECONNRESET', outcomeUnknown: false }));
    });
    if (body === undefined) {
      request.end();
      return;
    }
    // A truncated body must not look complete.
    body.on('error', (error) => request.destroy(error));
    body.on('close', () => {
      if (!body.readableEnded) request.destroy();
    });
    if (body.destroyed && !body.readableEnded) request.destroy();
    body.pipe(request);
  }

  #adopt(socket: Socket): void {
    const { scheme, purpose, headMsMax, upgrade } = this.#call;
    const onConnected = (): void => {
      if (this.#isSettled) return;
      this.#endAfter(
        headMsMax ?? (upgrade ? UPGRADE_MS_MAX : HEAD_MS_MAX),
        'timeout awaiting response headers',
      );
      socket.setTimeout(IDLE_MS_MAX, () => socket.destroy());
    };
    if (scheme === 'https') {
      onConnected();
      return;
    }
    socket.once('close', countOpened(this.#parts.counts, purpose));
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    socket.setNoDelay(true);
    socket.once('connect', onConnected);
  }

  #endAfter(ms: number, why: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#parts.request.destroy(new ConnectionError(why, { code: 'ETIMEOUT', outcomeUnknown: false }));
    }, ms).unref();
  }
}

function answerOf(response: IncomingMessage): BackendAnswer {
  const { statusCode = 0, rawHeaders } = response;
  return {
    is: 'answer',
    code: statusCode,
    rawHeaders,
    body: response,
    end: () => {
      response.destroy();
    },
  };
}

function endSoon(socket: Duplex): void {
  if (socket.destroyed) return;
  socket.end();
  setTimeout(() => socket.destroy(), FLUSH_MS_MAX).unref();
}

function connectionErrorOf(error: Error): ConnectionError {
  if (error instanceof ConnectionError) return error;
  const { code = 'ECONNRESET' } = error as NodeJS.ErrnoException;
  const message = error.message === '' ? code : error.message;
  return new ConnectionError(message, { code, outcomeUnknown: false, cause: error });
}
