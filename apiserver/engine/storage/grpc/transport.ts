/**
 * The gRPC transport of the etcd and KMS clients. A transport has one endpoint and one connection, which it opens on first use.
 */
export interface Transport {
  /** The endpoint, e.g. `https://10.0.0.5:2379` or `unix:///run/kms.sock`. */
  readonly endpoint: string;

  /**
   * Resolves when a connection is open; returns undefined without any cost if it already is. Rejects with a
   * {@link TransportError} whose `mayHaveRun` is false as soon as an attempt to connect failed, or after `timeoutMs`.
   */
  ready(timeoutMs: number, signal: AbortSignal): Promise<void> | undefined;

  /**
   * One request and one answer. Rejects with a {@link TransportError}, also when `signal` aborts (the code is then `cancelled`) or
   * `timeoutMs` have passed. It never sends a request twice.
   */
  unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: UnaryOptions,
  ): Promise<Response>;

  /** Opens a stream in both directions and sends the first request. It never throws; a failure shows when it is read. */
  stream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: StreamOptions,
  ): ResponseStream<Response>;

  /** Closes the connection; calls under way end with the code `cancelled` or `unavailable`. */
  close(): void;
}

/** One remote procedure: its path and its two codecs. `decode` throws on malformed bytes. */
export interface Method<Request, Response> {
  readonly path: string;
  /** Encodes the message after five free bytes for the frame head. */
  readonly encode: (request: Request) => Buffer;
  readonly decode: (bytes: Buffer) => Response;
}

export interface UnaryOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The token of etcd's user and password authentication. */
  readonly token?: string | undefined;
}

export interface StreamOptions {
  readonly token?: string | undefined;
}

/**
 * The answers of a stream in order, each time all that have arrived. Reading is by one reader; what it has not taken is buffered up to
 * {@link STREAM_BYTES_AHEAD_MAX} and one window of flow control more, which then holds the server back. The iteration ends when the
 * server ends the stream without an error and throws one {@link TransportError} otherwise.
 */
export interface ResponseStream<Response> extends AsyncIterable<readonly Response[]> {
  /** Ends the stream; a reader gets the code `cancelled`. Doing it twice is no error. */
  cancel(): void;
}

/** Counted in complete messages. */
export const STREAM_BYTES_AHEAD_MAX = 4 * 1024 * 1024;

/** The gRPC status codes in use. */
export const STATUS = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const;

/** A failed call, as reported by the transport or the server. */
export class TransportError extends Error {
  /** A gRPC status code, see {@link STATUS}. */
  readonly code: number;
  /** The message of the server or the transport. */
  readonly details: string;
  readonly endpoint: string;
  /** False only if the server certainly did not process the call: it was not sent, or the server reported so. */
  readonly mayHaveRun: boolean;

  constructor(options: {
    readonly code: number;
    readonly details: string;
    readonly endpoint: string;
    readonly mayHaveRun: boolean;
  }) {
    super(`${options.endpoint}: ${options.details} (gRPC status ${String(options.code)})`);
    this.name = 'TransportError';
    this.code = options.code;
    this.details = options.details;
    this.endpoint = options.endpoint;
    this.mayHaveRun = options.mayHaveRun;
  }
}
