import { once } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import { connect } from 'node:http2';
import { FLAG, HTTP2_PREFACE, http2Frame, http2Head } from '../../../../shared/testing/http2-frames';

export interface Http2Reply {
  readonly code: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Node's own client would send no head over 64 KiB. */
const HEAD_BYTES_MAX = 1_024 * 1_024;

/** Opens an HTTP/2 connection to a local server, without verifying its certificate. */
export async function connectHttp2(port: number): Promise<ClientHttp2Session> {
  const session = connect(`https://127.0.0.1:${String(port)}`, {
    rejectUnauthorized: false,
    maxSendHeaderBlockLength: HEAD_BYTES_MAX,
  });
  session.on('error', () => undefined);
  await once(session, 'remoteSettings');
  return session;
}

/** Sends one request and reads its answer to the end. Rejects when the stream is reset. */
export async function sendHttp2(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: Buffer | string,
): Promise<Http2Reply> {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return readReply(stream);
}

export async function readReply(stream: ClientHttp2Stream): Promise<Http2Reply> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let head: Readonly<Record<string, unknown>> = {};
    stream.on('response', (headers) => {
      head = headers;
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('close', () => {
      if (stream.rstCode !== 0 || head[':status'] === undefined)
        reject(new Error(`reset with ${String(stream.rstCode)}`));
      else resolve({ code: Number(head[':status']), headers: head, text: Buffer.concat(chunks).toString() });
    });
  });
}

/** The client preface, and the headers of a POST on stream 1 without content-length, with the beginning of its body. */
export function beginningOfPost(path: string, part: string): Buffer {
  return Buffer.concat([
    HTTP2_PREFACE,
    http2Frame('headers', { flags: FLAG.endHeaders, payload: http2Head('POST', path) }),
    http2Frame('data', { payload: Buffer.from(part) }),
  ]);
}
