import type { StatusReason } from '../errors/status-error';
import { StatusError } from '../errors/status-error';

/** The input of an error. */
export interface ErrorAnswer {
  /** The HTTP status code. */
  readonly code: number;
  /** The Retry-After header in seconds, if there was one. */
  readonly retryAfterSeconds?: number | undefined;
  readonly text: string;
}

const MESSAGE_CHARS_MAX = 1024;

/** The reasons for a bare HTTP code, for responses of a proxy without a Status. */
const REASON_OF_CODE: Readonly<Record<number, StatusReason>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** Decodes the Status of an error response; a response without one gets the reason of its code. */
export function statusErrorFromAnswer({ code, retryAfterSeconds, text }: ErrorAnswer): StatusError {
  const decoded = decodeStatus(parse(text), code);
  const error = decoded ?? bareError(code, text);
  if (retryAfterSeconds === undefined || error.status.details?.retryAfterSeconds !== undefined) return error;
  return new StatusError((error.status.reason ?? '') as StatusReason | '', error.message, {
    code: error.status.code,
    details: { ...error.status.details, retryAfterSeconds },
  });
}

/** Decodes the Status object of an ERROR event. */
export function statusErrorFromObject(object: unknown): StatusError {
  return (
    decodeStatus(object, 500) ??
    new StatusError('InternalError', 'the watch ended with an error that is not a Status')
  );
}

/** Reports whether this is a response of the server with one of these reasons. */
export function hasReason(error: unknown, ...reasons: readonly StatusReason[]): error is StatusError {
  return error instanceof StatusError && reasons.some((reason) => reason === error.status.reason);
}

/** Reports whether this is a response of the server with one of these HTTP codes. */
export function hasCode(error: unknown, ...codes: readonly number[]): error is StatusError {
  return error instanceof StatusError && codes.includes(error.status.code);
}

/** Reports whether a list or watch position has expired: list again. */
export function isExpired(error: unknown): boolean {
  return hasCode(error, 410) || hasReason(error, 'Expired', 'Gone');
}

function decodeStatus(value: unknown, httpCode: number): StatusError | undefined {
  if (!isRecord(value) || value['kind'] !== 'Status') return undefined;
  const { reason, message, code, details, metadata } = value;
  const token = isRecord(metadata) ? metadata['continue'] : undefined;
  // The reason is kept as received: a newer server may know more reasons than our table.
  return new StatusError(
    (typeof reason === 'string' ? reason : '') as StatusReason | '',
    typeof message === 'string' && message !== '' ? message : `the server answered ${String(httpCode)}`,
    {
      code: typeof code === 'number' && code !== 0 ? code : httpCode,
      ...(isRecord(details) ? { details } : {}),
      ...(typeof token === 'string' ? { continue: token } : {}),
    },
  );
}

function bareError(code: number, text: string): StatusError {
  const said = text.trim().slice(0, MESSAGE_CHARS_MAX);
  const message = `the server answered ${String(code)}${said === '' ? '' : `: ${said}`}`;
  return new StatusError(REASON_OF_CODE[code] ?? '', message, { code });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Proxies respond in HTML; the error then quotes it.
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
