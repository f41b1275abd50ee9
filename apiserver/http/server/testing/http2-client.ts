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
