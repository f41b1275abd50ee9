import { STATUS } from './transport';

/** How a call ended: a status code and the words to it. */
export interface CallStatus {
  readonly code: number;
  readonly details: string;
}

/** Headers as node:http2 gives them. */
export type Headers = Readonly<Record<string, string | string[] | number | undefined>>;

export const OK = 0;

/** The code of RST_STREAM by which a server says that it did nothing at all with a request (RFC 9113, 8.7). */
export const RESET_REFUSED = 7;

const DETAILS_CHARS_MAX = 2_000;
const TIMEOUT_STEP_MS = 100;
const TIMEOUT_MS_MAX = 99_999_900;

/** The status in trailers, or in headers that are also the end; undefined when there is none. */
export function statusIn(headers: Headers): CallStatus | undefined {
  const text = headers['grpc-status'];
  if (typeof text !== 'string') return undefined;
  const code = /^\d{1,3}$/.test(text) ? Number(text) : STATUS.unknown;
  return { code, details: decodePercent(headers['grpc-message']) };
}

/** What is wrong with the head of an answer, or undefined when a gRPC server could have sent it. Proxies answer in plain HTTP. */
export function refusalIn(headers: Headers): CallStatus | undefined {
  const http = Number(headers[':status']);
  const type = String(headers['content-type'] ?? '');
  if (http === HTTP_OK && type.startsWith('application/grpc')) return undefined;
  const code = http === HTTP_OK ? STATUS.unknown : (STATUS_OF_HTTP[http] ?? STATUS.unknown);
  const what = type === '' ? 'without a content type' : `of type ${type}`;
  return { code, details: `The answer is not gRPC: HTTP status ${String(http)}, ${what}.` };
}

/** What a stream's end without a status means, by the code of its RST_STREAM. */
export function statusOfReset(code: number): CallStatus {
  const name = RESET_NAMES[code] ?? `code ${String(code)}`;
  const details = `The stream was reset (${name}).`;
  return { code: STATUS_OF_RESET[code] ?? STATUS.internal, details };
}

/** The header `grpc-timeout`. It is rounded up to few different values, which HPACK then sends as one byte; the caller's timer is exact. */
export function timeoutHeader(timeoutMs: number): string {
  const steps = Math.ceil(Math.min(timeoutMs, TIMEOUT_MS_MAX) / TIMEOUT_STEP_MS);
  return `${String(Math.max(1, steps) * TIMEOUT_STEP_MS)}m`;
}

const HTTP_OK = 200;

const STATUS_OF_HTTP: Readonly<Record<number, number>> = {
  400: STATUS.internal,
  401: STATUS.unauthenticated,
  403: STATUS.permissionDenied,
  404: STATUS.unimplemented,
  429: STATUS.unavailable,
  502: STATUS.unavailable,
  503: STATUS.unavailable,
  504: STATUS.unavailable,
};

const RESET_NAMES: readonly string[] = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
];

/** The others are `internal`. */
const STATUS_OF_RESET: Readonly<Record<number, number>> = {
  [RESET_REFUSED]: STATUS.unavailable,
  8: STATUS.cancelled,
  // gRPC says "resource exhausted", which is also etcd's word for an answer that is too long; here the server is only too busy.
  11: STATUS.unavailable,
  12: STATUS.permissionDenied,
};

function decodePercent(text: Headers[string]): string {
  if (typeof text !== 'string') return '';
  const short = text.slice(0, DETAILS_CHARS_MAX);
  try {
    return decodeURIComponent(short);
  } catch {
    return short;
  }
}
