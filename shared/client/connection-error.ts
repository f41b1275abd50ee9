export interface ConnectionErrorOptions {
  /** Node's error code (`ECONNREFUSED`), or `ETIMEDOUT`. */
  readonly code: string;
  /** Whether a write may have been carried out without a response. */
  readonly outcomeUnknown: boolean;
  readonly cause?: unknown;
}

/**
 * No response: the server is unreachable, the connection broke, or time ran out. An error response is a StatusError instead. If
 * `outcomeUnknown` is set the write may have happened: read before writing again.
 */
export class ConnectionError extends Error {
  readonly code: string;
  readonly outcomeUnknown: boolean;

  constructor(message: string, options: ConnectionErrorOptions) {
    super(options.outcomeUnknown ? `${message} (the write's outcome is unknown)` : message, {
      cause: options.cause,
    });
    this.name = 'ConnectionError';
    this.code = options.code;
    this.outcomeUnknown = options.outcomeUnknown;
  }
}
