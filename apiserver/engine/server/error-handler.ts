import { internalError, serviceUnavailable, StatusError, timeout } from '../../../shared/errors/status-error';
import type { Log } from '../../../shared/log/log';
import { errorAnswer } from '../encoding/document';
import type { Answer, Exchange } from '../request/exchange';
import { AnsweredError } from '../request/answered-error';
import { ClientGoneError, isClientGone } from '../request/initial-values';
import { StorageError } from '../storage/backend';

const RETRY_AFTER_SECONDS = 1;

/**
 * Converts an error to an answer; the only place that does. Returns undefined if the client has disconnected. Sets
 * `exchange.error`. An unexpected error becomes a 500 and is logged with its stack.
 */
export function answerOfError(error: unknown, exchange: Exchange, log: Log): Answer | undefined {
  if (error instanceof ClientGoneError || isClientGone(exchange)) return undefined;
  const statusError = statusErrorOf(error, exchange);
  exchange.error = statusError;
  const { method, path, id } = exchange;
  if (!(error instanceof StatusError) && statusError.status.reason === 'InternalError') {
    log.error({ id, method, path, error }, 'unexpected error while handling a request');
  } else if (statusError.status.code >= 500) {
    // A cause that is not an Error is already part of the message.
    const cause = statusError.cause instanceof Error ? statusError.cause : undefined;
    log.warn(
      { id, method, path, code: statusError.status.code, reason: statusError.message, cause },
      'request failed',
    );
  }
  return statusAnswer(statusError, exchange);
}

/** Formats the `Status` of an error in the negotiated format, with Retry-After if its details have one. */
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

/** Converts any error to the StatusError that the client sees. */
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

/** Returns the reason of an abort: the StatusError of a stage or the listener; any other reason is the deadline. */
function ofAbort(reason: unknown): StatusError {
  if (reason instanceof StatusError) return reason;
  return new StatusError('Timeout', 'Timeout: request did not complete within the allotted timeout', {
    cause: reason,
  });
}

/**
 * Maps an error of the store. Retry-After is set only if nothing was written: clients repeat such requests
 * automatically, and a write with an unknown outcome must not be repeated.
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
    // As in v1.21: no reason and no Retry-After.
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
