export interface ConnectionErrorOptions {
  /** The code of Node's error (`ECONNREFUSED`), or `ETIMEDOUT` for a call that ran out of time. */
  readonly code: string;
  /** Whether a write may have been carried out although no answer came. */
  readonly outcomeUnknown: boolean;
  readonly cause?: unknown;
}

/**
 * No answer came from the server: it is out of reach, the connection broke or time ran out. Never used for an answer that is an
 * error (that is a StatusError). When `outcomeUnknown` is set the write may have happened: read before writing again.
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
