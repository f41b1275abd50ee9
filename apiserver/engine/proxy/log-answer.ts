import { badRequest, internalError, StatusError } from '../../../shared/errors/status-error';
import type { Answer } from '../request/exchange';
import type { BackendAnswer } from './backend-call';

const OK = 200;
const OK_MAX = 206;
/** The maximum of an error text of a kubelet that is passed on. */
const TEXT_BYTES_MAX = 2_048;

interface LogPlace {
  readonly name: string;
  /** Resource and subresource: `pods/log`. */
  readonly kind: string;
}

export function logAnswer(body: AsyncIterable<Buffer>): Answer {
  return { code: OK, headers: { 'Content-Type': 'text/plain' }, body };
}

/** Returns the error for a kubelet's answer; undefined for a log. The message texts are those of v1.21. */
export async function errorOfText(
  { code, body }: Extract<BackendAnswer, { is: 'answer' }>,
  about: LogPlace,
): Promise<StatusError | undefined> {
  if (code >= OK && code <= OK_MAX) return undefined;
  const said = await beginningOf(body);
  if (code >= 300 && code < 400) return new StatusError('', 'redirects forbidden');
  if (code === 500) return internalError(new Error(said));
  if (code === 400) return badRequest(said);
  return ofOtherCode(code, said, about);
}

function ofOtherCode(code: number, said: string, { name, kind }: LogPlace): StatusError {
  const details = { name, kind, causes: [{ reason: 'UnexpectedServerResponse', message: said }] };
  const [reason, message] = OTHER_CODES.get(code) ?? ['', unknownCode(code, said)];
  return new StatusError(reason, `${message} ( ${kind} ${name})`, { code, details });
}

type Reason = ConstructorParameters<typeof StatusError>[0];

const OTHER_CODES: ReadonlyMap<number, readonly [reason: Reason, message: string]> = new Map([
  [401, ['Unauthorized', 'the server has asked for the client to provide credentials']],
  [403, ['Forbidden', 'the server does not allow access to the requested resource']],
  [404, ['NotFound', 'the server could not find the requested resource']],
  [405, ['MethodNotAllowed', 'the server does not allow this method on the requested resource']],
  [429, ['TooManyRequests', 'the server has received too many requests and has asked us to try again later']],
  [503, ['ServiceUnavailable', 'the server is currently unable to handle the request']],
]);

function unknownCode(code: number, said: string): string {
  return code > 500
    ? `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`
    : `the server responded with the status code ${String(code)} but did not return more information`;
}

async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= TEXT_BYTES_MAX) break;
  }
  return Buffer.concat(pieces).toString('utf8', 0, TEXT_BYTES_MAX);
}
