import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { connect } from 'node:http2';
import type { RequestLoad, Target, WatchLoad, WatchResult } from './messages';
import type { Call, Send } from './request-load';

const WATCHES_OPENED_AT_ONCE = 50;

/** Sends the requests of a load over a few connections in rotation. */
export async function overHttp2({ target, path, http2Connections = 1 }: RequestLoad): Promise<Send> {
  const sessions = await openSessions(target, http2Connections);
  let next = 0;
  return async (call) => {
    const session = sessions[next++ % sessions.length];
    if (session === undefined) throw new Error('There is no connection.');
    return exchange(session, `${path}${call.place}`, { target, call });
  };
}

/** Idle watches, distributed over a few connections. Sends its result at a message; ended watches are counted. */
export async function runHttp2Watches(load: WatchLoad): Promise<WatchResult> {
  const { target, path, watchers, http2Connections = 1 } = load;
  const sessions = await openSessions(target, http2Connections);
  const stopped = once(process, 'message');
  let ended = 0;
  for (let from = 0; from < watchers; from += WATCHES_OPENED_AT_ONCE) {
    const size = Math.min(WATCHES_OPENED_AT_ONCE, watchers - from);
    const opened = Array.from({ length: size }, async (_, index) => {
      const session = sessions[(from + index) % sessions.length];
      const stream = session?.request(headOf(target, path));
      if (stream === undefined) throw new Error('There is no connection.');
      const status = await statusOf(stream);
      if (status !== 200) throw new Error(`A watch was answered ${String(status)}.`);
      stream.resume();
      stream.on('close', () => (ended += 1));
    });
    await Promise.all(opened);
  }
  process.send?.('ready');
  await stopped;
  const result = { arrivals: new Float64Array(0), versions: [], ended, beyond: 0 };
  for (const session of sessions) session.destroy();
  return result;
}

async function openSessions(
  { server, caFile }: Target,
  count: number,
): Promise<readonly ClientHttp2Session[]> {
  const ca = readFileSync(caFile);
  const sessions = Array.from({ length: count }, () => connect(server, { ca }));
  // Before it arrives, a client may assume at most a hundred concurrent requests.
  await Promise.all(sessions.map(async (session) => once(session, 'remoteSettings')));
  for (const session of sessions) session.on('error', () => undefined);
  return sessions;
}

function headOf({ token }: Target, path: string): Record<string, string> {
  return { ':path': path, authorization: `Bearer ${token}`, accept: 'application/json' };
}

async function statusOf(stream: ClientHttp2Stream): Promise<number> {
  const [head] = (await once(stream, 'response')) as [{ readonly ':status'?: number }];
  return head[':status'] ?? 0;
}

async function exchange(
  session: ClientHttp2Session,
  path: string,
  { target, call }: { readonly target: Target; readonly call: Call },
): Promise<number> {
  const { method, headers, body } = call;
  const hasBody = body.length > 0;
  const stream = session.request(
    { ...headOf(target, path), ...headers, ':method': method },
    { endStream: !hasBody },
  );
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => (bytes += chunk.length));
  const over = whole(stream);
  if (hasBody) stream.end(body);
  const [status] = await Promise.all([statusOf(stream), over]);
  if (status >= 300) throw new Error(`${path} answered ${String(status)}`);
  return bytes;
}

/** Rejects if the stream or its connection ends before the response. */
async function whole(stream: ClientHttp2Stream): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    stream.once('end', resolve);
    stream.once('close', () => reject(new Error('The stream closed before its answer was whole.')));
  });
}
