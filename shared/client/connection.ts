import { readFileSync } from 'node:fs';
import { sleep } from '../concurrency/abort';
import type { Clock } from '../concurrency/clock';
import { monotonicClock } from '../concurrency/monotonic-clock';
import { getRetryAfterMs } from '../errors/status-error';
import type { RequestObserver } from '../metrics/rest-client';
import { MEDIA_TYPE } from '../names';
import { ConnectionError } from './connection-error';
import type { CredentialsTransport } from './credentials-transport';
import { createCredentialsTransport } from './credentials-transport';
import type { ExecCredentials } from './exec-credentials';
import { execCredentialsOf } from './exec-credentials';
import type { ExecCredential } from './exec-plugin';
import { ExecPluginError } from './exec-plugin';
import type { CallOptions, ClientOptions, RawAnswer, RawRequest, TokenSource } from './options';
import { hasCode, statusErrorFromAnswer } from './status';
import type { Answer, Deadline, StreamedAnswer, Transport, TransportRequest } from './transport';
import { createTransport } from './transport';

/** The client's connection: credentials, time limits, and the few retries that can never repeat a write. */
export interface Connection {
  /** Returns the response whatever its code. */
  send(request: RawRequest): Promise<RawAnswer>;
  /** Returns the JSON of a 2xx response, else throws a StatusError. 429 is retried after Retry-After. */
  json(request: RawRequest): Promise<unknown>;
  /** Returns the stream of a 200 response, else throws a StatusError. */
  stream(request: RawRequest): Promise<StreamedAnswer>;
  close(): void;
}

const TIMEOUT_MS = 30_000;
const THROTTLED_TRIES_MAX = 5;
const THROTTLED_WAIT_MS = 1_000;
const TOKEN_AGE_MAX_MS = 60_000;
const UNAUTHORIZED = 401;
/** Bound of the body of an error response to a watch. */
const ERROR_BYTES_MAX = 1024 * 1024;
const USER_AGENT = 'orch-client';
/** The server closed a kept-alive connection just as the request left. */
const STALE_CONNECTION_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

export function createConnection(options: ClientOptions, clock: Clock = monotonicClock): Connection {
  const transports = createCredentialsTransport(
    options,
    (each) => observed((options.transport ?? createTransport)(each), options.observe, clock),
    clock,
  );
  const credentials = credentialsOf(options, transports, clock);
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const wire = (
    { method, path, body, contentType, accept }: RawRequest,
    bearer: string,
  ): TransportRequest => ({
    method,
    path,
    headers: {
      accept: accept ?? MEDIA_TYPE.json,
      'user-agent': options.userAgent ?? USER_AGENT,
      ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined
        ? {}
        : {
            'content-type': contentType ?? MEDIA_TYPE.json,
            'content-length': String(Buffer.byteLength(body)),
          }),
    },
    body,
  });
  const deadlineOf = (call: CallOptions): Deadline => ({
    timeoutMs: call.timeoutMs ?? timeoutMs,
    signal: call.signal,
  });
  const send = async (request: RawRequest): Promise<Answer> => {
    const { token, transport, refused } = await credentials(request.signal);
    const answer = await sendOnce(transport, wire(request, token), deadlineOf(request));
    if (answer.code === UNAUTHORIZED) refused();
    return answer;
  };
  return {
    send,
    json: async (request) => {
      const until = clock.now() + deadlineOf(request).timeoutMs;
      for (let tries = 1; ; tries += 1) {
        const remainingMs = Math.max(1, until - clock.now());
        const answer = await send({ ...request, timeoutMs: remainingMs });
        if (answer.code >= 200 && answer.code < 300) return decode(answer);
        const error = errorOf(answer.code, answer.headers, answer.body);
        // 429 guarantees that nothing was done, so even a write may be retried.
        const waitMs = getRetryAfterMs(error) ?? THROTTLED_WAIT_MS;
        if (!hasCode(error, 429) || tries >= THROTTLED_TRIES_MAX || clock.now() + waitMs >= until)
          throw error;
        await sleep(waitMs, request.signal ?? NEVER);
      }
    },
    stream: async (request) => {
      const { token, transport, refused } = await credentials(request.signal);
      const answer = await transport.stream(wire(request, token), deadlineOf(request));
      if (answer.code === 200) return answer;
      if (answer.code === UNAUTHORIZED) refused();
      const timer = setTimeout(answer.end, deadlineOf(request).timeoutMs);
      try {
        throw errorOf(answer.code, answer.headers, await beginning(answer.chunks));
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => {
      transports.close();
    },
  };
}

/** Returns the credentials, evaluated for each request. */
function credentialsOf(
  options: ClientOptions,
  transports: CredentialsTransport,
  clock: Clock,
): (signal: AbortSignal | undefined) => Promise<Shown> {
  if (options.exec === undefined) {
    const tokens = options.tokenSource ?? tokenSource(options, clock);
    return async (signal) => {
      const token = await tokens.token(signal);
      return { token, transport: transports.of(undefined), refused: () => tokens.refused(token) };
    };
  }
  const plugin = execCredentialsOf(options.exec);
  return async (signal) => {
    const credential = await credentialOf(plugin, signal);
    const { token } = credential;
    return { token, transport: transports.of(credential), refused: () => plugin.refused(credential) };
  };
}

/** A failing plugin is treated like an unreachable server: a later request may succeed. */
async function credentialOf(
  plugin: ExecCredentials,
  signal: AbortSignal | undefined,
): Promise<ExecCredential> {
  try {
    return await plugin.current(signal);
  } catch (error) {
    if (!(error instanceof ExecPluginError)) throw error;
    const options = { code: 'ECREDENTIALS', outcomeUnknown: false, cause: error };
    throw new ConnectionError(`getting credentials: ${error.message}`, options);
  }
}

interface Shown {
  readonly token: string;
  readonly transport: Transport;
  readonly refused: () => void;
}

const NEVER = new AbortController().signal;

/** Reads at most the bytes that an error message needs. */
async function beginning(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes >= ERROR_BYTES_MAX) break;
  }
  return Buffer.concat(parts);
}

function observed(transport: Transport, observe: RequestObserver | undefined, clock: Clock): Transport {
  if (observe === undefined) return transport;
  const timed = async <T extends { readonly code: number }>(
    method: string,
    run: () => Promise<T>,
  ): Promise<T> => {
    const beganMs = clock.now();
    let code = 0;
    try {
      const answer = await run();
      ({ code } = answer);
      return answer;
    } finally {
      observe(method, code, clock.now() - beganMs);
    }
  };
  return {
    send: async (request, deadline) => timed(request.method, async () => transport.send(request, deadline)),
    stream: async (request, deadline) =>
      timed(request.method, async () => transport.stream(request, deadline)),
    close: () => {
      transport.close();
    },
  };
}

async function sendOnce(
  transport: Transport,
  request: TransportRequest,
  deadline: Deadline,
): Promise<Answer> {
  try {
    return await transport.send(request, deadline);
  } catch (error) {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || !(error instanceof ConnectionError) || !STALE_CONNECTION_CODES.has(error.code))
      throw error;
    return transport.send(request, deadline);
  }
}

function decode(answer: Answer): unknown {
  const text = answer.body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConnectionError('the answer is not JSON', {
      code: 'EBADMSG',
      outcomeUnknown: false,
      cause: error,
    });
  }
}

function errorOf(code: number, headers: RawAnswer['headers'], body: Buffer): Error {
  const retryAfter = Number(headers['retry-after']);
  return statusErrorFromAnswer({
    code,
    text: body.toString('utf8'),
    ...(Number.isInteger(retryAfter) && retryAfter >= 0 ? { retryAfterSeconds: retryAfter } : {}),
  });
}

/** As client-go: a token file that is gone or empty for a while, as when it is replaced, leaves the last token in use. */
function tokenSource({ token = '', tokenFile = '' }: ClientOptions, clock: Clock): TokenSource {
  if (tokenFile === '') return { token: async () => Promise.resolve(token), refused: () => undefined };
  let read = { token: '', atMs: -Infinity };
  return {
    token: async () => {
      if (clock.now() - read.atMs >= TOKEN_AGE_MAX_MS) {
        read = { token: readToken(tokenFile, read.token), atMs: clock.now() };
      }
      return Promise.resolve(read.token);
    },
    refused: () => undefined,
  };
}

/** Returns `last` if it is not empty and the file has no token; throws the error of a first read. */
function readToken(file: string, last: string): string {
  try {
    return readFileSync(file, 'utf8').trim() || last;
  } catch (error) {
    if (last === '') throw error;
    return last;
  }
}
