import { ReadableStream } from 'node:stream/web';
import type { LocalRequests, LocalResponse } from '../apiserver/engine/server/local-requests';
import type { UserInfo } from '../apiserver/engine/request/exchange';
import type { Client } from '../shared/client/client';
import { createClient } from '../shared/client/client';
import type { StreamedAnswer, Transport, TransportRequest } from '../shared/client/transport';
import { linkedAbort } from '../shared/concurrency/linked-abort';
import type { Log } from '../shared/log/log';

/** The origin of requests without a connection. */
const ORIGIN = 'http://orch.local';
const NULL_BODY_CODES: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** The global `fetch` for one user, without a connection. A header `Authorization` replaces the user. */
export async function fetchLocally(
  requests: LocalRequests,
  user: UserInfo,
  path: string,
  init?: RequestInit,
): Promise<Response> {
  const request = new Request(new URL(path, ORIGIN), init);
  const { pathname, search } = new URL(request.url);
  const body = Buffer.from(await request.arrayBuffer());
  const rawHeaders = [...request.headers].flat();
  const response = await requests.send({
    method: request.method,
    target: pathname + search,
    rawHeaders: body.length === 0 ? rawHeaders : [...rawHeaders, 'content-length', String(body.length)],
    body,
    user: request.headers.has('authorization') ? undefined : user,
    signal: request.signal,
  });
  const headers = new Headers();
  for (let at = 0; at < response.headers.length; at += 2)
    headers.append(response.headers[at] ?? '', response.headers[at + 1] ?? '');
  const content = NULL_BODY_CODES.has(response.code) ? null : contentOf(response);
  return new Response(content, { status: response.code, headers });
}

function contentOf({ body }: LocalResponse): Uint8Array | ReadableStream<Uint8Array> {
  if (Symbol.iterator in body) return Buffer.concat([...body]);
  const iterator = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const step = await iterator.next();
        if (step.done === true) controller.close();
        else controller.enqueue(step.value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** A client of the project that acts as a user, without a connection. */
export function createLocalClient(requests: LocalRequests, user: UserInfo, log: Log): Client {
  return createClient({ server: ORIGIN, log, transport: () => localTransport(requests, user) });
}

function localTransport(requests: LocalRequests, user: UserInfo): Transport {
  const open = async (
    { method, path, headers, body = '' }: TransportRequest,
    signal: AbortSignal,
  ): Promise<LocalResponse> =>
    requests.send({
      method,
      target: path,
      rawHeaders: Object.entries(headers).flat(),
      body: Buffer.from(body),
      user,
      signal,
    });
  const stream = async (
    request: TransportRequest,
    signal: AbortSignal | undefined,
  ): Promise<StreamedAnswer> => {
    const call = linkedAbort(signal ?? new AbortController().signal);
    const response = await open(request, call.signal).catch((error: unknown) => {
      call.unlink();
      throw error;
    });
    return {
      code: response.code,
      headers: headersOf(response),
      chunks: chunksOf(response, call.unlink),
      end: () => {
        call.abort(new Error('the client has ended the response'));
        call.unlink();
      },
    };
  };
  return {
    send: async (request, { signal }) => {
      const { code, headers, chunks } = await stream(request, signal);
      const pieces: Buffer[] = [];
      for await (const chunk of chunks) pieces.push(chunk);
      return { code, headers, body: Buffer.concat(pieces) };
    },
    stream: async (request, { signal }) => stream(request, signal),
    close: () => undefined,
  };
}

async function* chunksOf({ body }: LocalResponse, over: () => void): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } finally {
    over();
  }
}

function headersOf({ headers }: LocalResponse): Record<string, string> {
  const byName: Record<string, string> = {};
  for (let at = 0; at < headers.length; at += 2)
    byName[(headers[at] ?? '').toLowerCase()] = headers[at + 1] ?? '';
  return byName;
}
