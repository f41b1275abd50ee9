import { internalError, serviceUnavailable, StatusError, timeout } from '../../../shared/errors/status-error';
import type { Log } from '../../../shared/log/log';
import { errorAnswer } from '../encoding/document';
import type { Answer, Exchange } from '../request/exchange';
import { AnsweredError } from '../request/answered-error';
import { ClientGoneError, isClientGone } from '../request/initial-values';
import { StorageError } from '../storage/backend';

const RETRY_AFTER_SECONDS = 1;

/**
 * The one place where an error becomes an answer. Returns undefined when the client is gone. Sets `exchange.error`. An
 * unexpected error becomes a 500 and is logged with its stack.
 */
export function answerOfError(error: unknown, exchange: Exchange, log: Log): Answer | undefined {
  if (error instanceof ClientGoneError || isClientGone(exchange)) return undefined;
  const statusError = statusErrorOf(error, exchange);
  exchange.error = statusError;
  const { method, path, id } = exchange;
  if (!(error instanceof StatusError) && statusError.status.reason === 'InternalError') {
    log.error({ id, method, path, error }, 'unexpected error while handling a request');
  } else if (statusError.status.code >= 500) {
    // A cause that is no error has said all it knows in the message.
    const cause = statusError.cause instanceof Error ? statusError.cause : undefined;
    log.warn(
      { id, method, path, code: statusError.status.code, reason: statusError.message, cause },
      'request failed',
    );
  }
  return statusAnswer(statusError, exchange);
}

/**
 * The `Status` of an error as an answer, in the format that the request asks for, with the Retry-After header that its details ask for.
 */
export function statusAnswer(error: StatusError, exchange: Exchange): Answer {
  if (error instanceof AnsweredError) return error.answer;
  const { status } = error;
  const plain = errorAnswer(exchange, status.code, status);
  const answer =
    error.headers === undefined ? plain : { ...plain, headers: { ...plain.headers, ...error.headers } };
  const retryAfterSeconds = status.details?.retryAfterSeconds ?? 0;
  if (retryAfterSeconds <= 0) return answer;
  return { ...answer, headers: { ...answer.headers, 'Retry-After': String(retryAfterSeconds) } };
}

/** The error as the client sees it. */
export function statusErrorOf(error: unknown, exchange: Exchange): StatusError {
  if (error instanceof StatusError) return error;
  if (error instanceof StorageError) return ofStorage(error);
  if (exchange.signal.aborted && isAbort(error, exchange.signal)) return ofAbort(exchange.signal.reason);
  return internalError(error);
}

function isAbort(error: unknown, { reason }: AbortSignal): boolean {
  if (error === reason) return true;
  if (typeof error !== 'object' || error === null || !('name' in error)) return false;
  return error.name === 'AbortError' || error.name === 'TimeoutError';
}

/** Why the request was given up: a stage or the listener says so with a StatusError; anything else is the deadline. */
function ofAbort(reason: unknown): StatusError {
  if (reason instanceof StatusError) return reason;
  return new StatusError('Timeout', 'Timeout: request did not complete within the allotted timeout', {
    cause: reason,
  });
}

/**
 * What the trouble with the store means to a client. Only where nothing was written does the answer ask for another try: clients
 * repeat by themselves whatever carries a Retry-After, and a write whose outcome is unknown must not be repeated blindly.
 */
function ofStorage(error: StorageError): StatusError {
  switch (error.code) {
    case 'unavailable':
    case 'closed':
    case 'reset':
      return serviceUnavailable(`the store is unavailable: ${error.message}`, RETRY_AFTER_SECONDS, error);
    case 'unknown-outcome':
      return new StatusError('Timeout', `the write may or may not have happened: ${error.message}`, {
        cause: error,
      });
    case 'future':
      return timeout(`Too large resource version: ${error.message}`, RETRY_AFTER_SECONDS, error);
    case 'compacted':
      return new StatusError('Expired', `The resourceVersion is too old: ${error.message}`, { cause: error });
    // As v1.21 answers: with no reason, and no invitation to try again at once.
    case 'full':
      return new StatusError('', error.message, { cause: error });
    case 'too-large':
      return new StatusError('RequestEntityTooLarge', `Request entity too large: ${error.message}`, {
        cause: error,
      });
    case 'denied':
    case 'corrupt':
      break;
  }
  return internalError(error);
}
