import type { Readable } from 'node:stream';

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
  /** A frame type of an unknown extension. */
  unknown: 0x42,
} as const;

export const FLAG = { endStream: 1, endHeaders: 4 } as const;

interface FrameParts {
  readonly flags?: number;
  readonly stream?: number;
  readonly payload?: Buffer;
}

/** Builds one frame of HTTP/2 (RFC 9113, 4.1), also invalid ones. */
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

/** The connection preface of a client. */
export const HTTP2_PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  http2Frame('settings', { stream: 0 }),
]);

/** The acknowledgement of the server's settings. */
export const HTTP2_SETTINGS_TAKEN = http2Frame('settings', { stream: 0, flags: 1 });

/** A header field, neither compressed nor indexed. */
export function http2Field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), ...[name, value].map(textOf)]);
}

const ONE_BYTE_MAX = 0x7f;

/** A string after its length in HPACK (RFC 7541, 5.1): up to 126 in one byte, and the rest in bytes of seven bits. */
function textOf(text: string): Buffer {
  const bytes = [Math.min(text.length, ONE_BYTE_MAX)];
  if (text.length >= ONE_BYTE_MAX) {
    let rest = text.length - ONE_BYTE_MAX;
    for (; rest > 0x7f; rest >>= 7) bytes.push(0x80 | (rest & 0x7f));
    bytes.push(rest);
  }
  return Buffer.concat([Buffer.from(bytes), Buffer.from(text, 'latin1')]);
}

/** The header block of a request, with further raw fields. */
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

export interface SeenFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Records the frames of the other side. */
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
