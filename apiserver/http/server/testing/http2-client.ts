import { once } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import { connect } from 'node:http2';
import type { Readable } from 'node:stream';

export interface Http2Reply {
  readonly code: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Node's own client would send no head over 64 KiB. */
const HEAD_BYTES_MAX = 1_024 * 1_024;

/** A connection over HTTP/2 to a server on this machine, whoever has signed its certificate. */
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

const FRAME_HEAD_BYTES = 9;

const FRAME_TYPES = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
  /** Of an extension that nobody knows. */
  unknown: 0x42,
} as const;

export const FLAG = { endStream: 1, endHeaders: 4 } as const;

interface FrameParts {
  readonly flags?: number;
  readonly stream?: number;
  readonly payload?: Buffer;
}

/** One frame of HTTP/2, for bytes that no client sends. */
export function http2Frame(
  type: keyof typeof FRAME_TYPES,
  { flags = 0, stream = 1, payload = Buffer.alloc(0) }: FrameParts = {},
): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(FRAME_TYPES[type], 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** What a client sends first. */
export const HTTP2_PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  http2Frame('settings', { stream: 0 }),
]);

/** What it says once it has read the settings of the server, which hold from then on. */
export const HTTP2_SETTINGS_TAKEN = http2Frame('settings', { stream: 0, flags: 1 });

/** A field of a head, neither compressed nor remembered; of less than 127 bytes each. */
export function http2Field(name: string, value: string): Buffer {
  const text = (each: string): Buffer =>
    Buffer.concat([Buffer.from([each.length]), Buffer.from(each, 'latin1')]);
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

/** The head of a request, with further fields as they are. */
export function http2Head(method: string, path: string, fields: readonly Buffer[] = []): Buffer {
  return Buffer.concat([
    http2Field(':method', method),
    http2Field(':scheme', 'https'),
    http2Field(':path', path),
    http2Field(':authority', 'a'),
    ...fields,
  ]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** What a client sends first, and the head of a POST on stream 1 that says nothing of its length, with the beginning of its body. */
export function beginningOfPost(path: string, part: string): Buffer {
  return Buffer.concat([
    HTTP2_PREFACE,
    http2Frame('headers', { flags: FLAG.endHeaders, payload: http2Head('POST', path) }),
    http2Frame('data', { payload: Buffer.from(part) }),
  ]);
}

export interface SeenFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Notes the frames that the other end sends. */
export function framesOf(socket: Readable): SeenFrame[] {
  const seen: SeenFrame[] = [];
  let rest = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= FRAME_HEAD_BYTES) {
      const end = FRAME_HEAD_BYTES + rest.readUIntBE(0, 3);
      if (rest.length < end) return;
      seen.push({
        type: rest.readUInt8(3),
        flags: rest.readUInt8(4),
        stream: rest.readUInt32BE(5),
        payload: rest.subarray(FRAME_HEAD_BYTES, end),
      });
      rest = rest.subarray(end);
    }
  });
  return seen;
}

export function ofType(frames: readonly SeenFrame[], type: keyof typeof FRAME_TYPES): SeenFrame[] {
  return frames.filter((frame) => frame.type === FRAME_TYPES[type]);
}
