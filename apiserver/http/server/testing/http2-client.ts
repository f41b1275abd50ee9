import { once } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import { connect } from 'node:http2';

export interface Http2Reply {
  readonly code: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** A connection over HTTP/2 to a server on this machine, whoever has signed its certificate. */
export async function connectHttp2(port: number): Promise<ClientHttp2Session> {
  const session = connect(`https://127.0.0.1:${String(port)}`, { rejectUnauthorized: false });
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

const FRAME_HEAD_BYTES = 9;

/** One frame of HTTP/2, for bytes that no client sends. */
export function http2Frame(
  type: 'data' | 'headers' | 'reset' | 'settings',
  { flags = 0, stream = 1, payload = Buffer.alloc(0) }: { flags?: number; stream?: number; payload?: Buffer },
): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8({ data: 0, headers: 1, reset: 3, settings: 4 }[type], 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const END_HEADERS = 4;
/** `:method: POST` and `:scheme: https` of the static table. */
const POST_OVER_TLS = [0x83, 0x87];
const PATH = 4;
const AUTHORITY = 1;

/** What a client sends first, and the head of a POST on stream 1 that says nothing of its length, with the beginning of its body. */
export function beginningOfPost(path: string, part: string): Buffer {
  const literal = (name: number, value: string): Buffer =>
    Buffer.concat([Buffer.from([name, value.length]), Buffer.from(value)]);
  const payload = Buffer.concat([Buffer.from(POST_OVER_TLS), literal(PATH, path), literal(AUTHORITY, 'a')]);
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    http2Frame('settings', { stream: 0 }),
    http2Frame('headers', { flags: END_HEADERS, payload }),
    http2Frame('data', { payload: Buffer.from(part) }),
  ]);
}
