const FRAME_TYPES = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, continuation: 9 } as const;

export const FLAG = { endStream: 1, endHeaders: 4 } as const;

interface FrameParts {
  readonly flags?: number;
  /** Default: that of the first request. */
  readonly stream?: number;
  readonly payload?: Buffer;
}

/** One frame of HTTP/2 (RFC 9113, 4.1), for what no library sends. */
export function http2Frame(
  type: keyof typeof FRAME_TYPES,
  { flags = 0, stream = 1, payload = Buffer.alloc(0) }: FrameParts = {},
): Buffer {
  return Buffer.concat([
    bytesOf(payload.length, 3),
    Buffer.from([FRAME_TYPES[type], flags]),
    bytesOf(stream, 4),
    payload,
  ]);
}

/** What a client sends first. */
export const HTTP2_PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  http2Frame('settings', { stream: 0 }),
]);

/** The head of a request, with further fields. */
export function http2Head(
  method: string,
  path: string,
  fields: Readonly<Record<string, string>> = {},
): Buffer {
  const all = { ':method': method, ':scheme': 'https', ':path': path, ':authority': 'x', ...fields };
  return Buffer.concat(Object.entries(all).map(([name, value]) => http2Field(name, value)));
}

/** A field of a head, neither compressed nor remembered. */
export function http2Field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), ...[name, value].map(textOf)]);
}

const ONE_BYTE_MAX = 0x7f;

/** Behind its length as HPACK writes it (RFC 7541, 5.1): up to 126 in one byte, and what is above that in bytes of seven bits. */
function textOf(text: string): Buffer {
  const bytes = [Math.min(text.length, ONE_BYTE_MAX)];
  if (text.length >= ONE_BYTE_MAX) {
    let rest = text.length - ONE_BYTE_MAX;
    for (; rest > 0x7f; rest >>= 7) bytes.push(0x80 | (rest & 0x7f));
    bytes.push(rest);
  }
  return Buffer.concat([Buffer.from(bytes), Buffer.from(text, 'latin1')]);
}

export function bytesOf(value: number, count: number): Buffer {
  const bytes = Buffer.alloc(count);
  bytes.writeUIntBE(value, 0, count);
  return bytes;
}
