import type { Status } from '../../../shared/api/types/meta-v1';
import { ADDRESS_NOT_ALLOWED } from '../../../shared/client/allowed-addresses';
import { ConnectionError } from '../../../shared/client/connection-error';
import { fieldsOf, text } from '../../../shared/object/accessors';
import { ownKeyMap } from '../../../shared/own-key-map';

export interface CallPlace {
  /** The request URL with its query. */
  readonly url: string;
  /** Host and port of the connection. */
  readonly dialled: string;
}

/** Formats a failed call with the message text of Go's HTTP client, which operators grep for. */
export function unansweredText(error: unknown, { url, dialled }: CallPlace): string {
  return `Post ${JSON.stringify(url)}: ${causeText(error, dialled)}`;
}

const TEXTS = ownKeyMap<(dialled: string) => string>({
  ETIMEDOUT: () => 'context deadline exceeded',
  ECONNREFUSED: (dialled) => `dial tcp ${dialled}: connect: connection refused`,
  EHOSTUNREACH: (dialled) => `dial tcp ${dialled}: connect: no route to host`,
  ENETUNREACH: (dialled) => `dial tcp ${dialled}: connect: network is unreachable`,
  ECONNRESET: (dialled) => `read tcp ${dialled}: read: connection reset by peer`,
  EPIPE: (dialled) => `write tcp ${dialled}: write: broken pipe`,
  ENOTFOUND: (dialled) => `dial tcp: lookup ${hostOf(dialled)}: no such host`,
  [ADDRESS_NOT_ALLOWED]: (dialled) => `dial tcp ${dialled}: address not allowed by --egress-deny-cidrs`,
  EAI_AGAIN: (dialled) => `dial tcp: lookup ${hostOf(dialled)}: server misbehaving`,
});

/** Formats the cause alone, without the request. */
export function causeText(error: unknown, dialled: string): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof ConnectionError)) return message;
  return TEXTS.get(error.code)?.(dialled) ?? withoutRequest(message);
}

/** Removes the request from errors of the client, because the text already contains it. */
function withoutRequest(message: string): string {
  return message.replace(/^POST [^ ]*: /, '').replace(/ \(the write's outcome is unknown\)$/, '');
}

function hostOf(dialled: string): string {
  return dialled.slice(0, dialled.lastIndexOf(':'));
}

const SAID_CHARS_MAX = 2_048;

const REFUSALS: Readonly<Record<number, string>> = {
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  415: 'the body of the request was in an unknown format',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

const OK = 200;
const OK_MAX = 206;
const SERVER_ERROR = 500;

/** Formats the error for the HTTP status code of an answer; undefined for a success. */
export function refusedText({
  code,
  body,
}: {
  readonly code: number;
  readonly body: Buffer;
}): string | undefined {
  if (code >= OK && code <= OK_MAX) return undefined;
  const said = body.toString('utf8', 0, SAID_CHARS_MAX).trim();
  const status = statusIn(said);
  if (status !== undefined) return status;
  const known = REFUSALS[code];
  if (known !== undefined) return known;
  if (code >= SERVER_ERROR) {
    return `an error on the server (${JSON.stringify(said === '' ? 'unknown' : said)}) has prevented the request from succeeding`;
  }
  if (code >= 300 && code < 400) return `the server answered ${String(code)}; redirects are not followed`;
  return `the server responded with the status code ${String(code)} but did not return more information${said === '' ? '' : `: ${said}`}`;
}

function statusIn(said: string): string | undefined {
  try {
    const { kind, message: given } = fieldsOf<Status>(JSON.parse(said));
    const message = text(given);
    return kind === 'Status' && message !== '' ? message : undefined;
  } catch {
    return undefined;
  }
}
