import * as http2 from 'node:http2';
import type * as net from 'node:net';
import type { Method } from '../transport';

/** A method whose messages are texts. */
export const ECHO: Method<string, string> = {
  path: '/test.Fake/Echo',
  encode: (text) => Buffer.concat([Buffer.alloc(5), Buffer.from(text)]),
  decode: (bytes) => {
    if (bytes.includes('malformed')) throw new RangeError('no text');
    return bytes.toString();
  },
};

/** One call as the server has it; `request` is the text without its frame. */
export interface FakeCall {
  readonly stream: http2.ServerHttp2Stream;
  readonly headers: http2.IncomingHttpHeaders;
  readonly request: string;
  /** Counts the connections, from 1. */
  readonly connection: number;
}

export interface FakeServer {
  readonly url: string;
  readonly port: number;
  /** Live and dead ones. */
  readonly connections: () => number;
  readonly sessions: readonly http2.ServerHttp2Session[];
  close(): Promise<void>;
}

export interface FakeOptions {
  readonly settings?: http2.Settings;
  readonly host?: string;
  readonly tls?: { readonly key: Buffer; readonly cert: Buffer };
  /** Sees a request before its first byte is read. */
  readonly onHead?: (stream: http2.ServerHttp2Stream) => void;
  /** Any free one by default. */
  readonly port?: number;
}

/** A real HTTP/2 server that answers as `answer` says, once the first message of a request has come. */
export async function startFakeServer(
  answer: (call: FakeCall) => void,
  options: FakeOptions = {},
): Promise<FakeServer> {
  const { settings = {}, host = '127.0.0.1', tls, port = 0, onHead } = options;
  // Node counts the bytes it has to send, and would refuse streams at 10 MB of them.
  const limits = { settings, maxSessionMemory: Number.MAX_SAFE_INTEGER };
  const server =
    tls === undefined ? http2.createServer(limits) : http2.createSecureServer({ ...limits, ...tls });
  const sessions: http2.ServerHttp2Session[] = [];
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => undefined);
  });
  server.on('stream', (stream, headers) => {
    const connection = sessions.indexOf(stream.session as http2.ServerHttp2Session) + 1;
    stream.on('error', () => undefined);
    const chunks: Buffer[] = [];
    let missing = Number.POSITIVE_INFINITY;
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      const [first = chunk] = chunks;
      // The head of a frame is small enough to come in one piece.
      if (chunks.length === 1) missing = 5 + first.readUInt32BE(1);
      missing -= chunk.length;
      if (missing !== 0) return;
      answer({ stream, headers, request: Buffer.concat(chunks).subarray(5).toString(), connection });
    });
    onHead?.(stream);
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const bound = (server.address() as net.AddressInfo).port;
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${name}:${String(bound)}`,
    port: bound,
    connections: () => sessions.length,
    sessions,
    close: async () => {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A message in its frame. */
export function framed(text: string, compressed = 0): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(5);
  head[0] = compressed;
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

export const GRPC_HEAD = { ':status': 200, 'content-type': 'application/grpc' } as const;

/** Answers in good order: these bytes, then this status. */
export function reply(stream: http2.ServerHttp2Stream, bytes: Buffer, status = '0', message?: string): void {
  stream.respond(GRPC_HEAD, { waitForTrailers: true });
  stream.on('wantTrailers', () => {
    stream.sendTrailers({
      'grpc-status': status,
      ...(message === undefined ? {} : { 'grpc-message': message }),
    });
  });
  stream.end(bytes);
}

/** An error as gRPC servers send it: headers that are also the end. */
export function replyTrailersOnly(stream: http2.ServerHttp2Stream, status: string, message: string): void {
  stream.respond({ ...GRPC_HEAD, 'grpc-status': status, 'grpc-message': message }, { endStream: true });
}
