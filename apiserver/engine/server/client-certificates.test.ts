import { once } from 'node:events';
import { Agent } from 'node:https';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { createConnection, createServer } from 'node:net';
import { Duplex, Writable } from 'node:stream';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import type { TestCertificate } from '../../../shared/certs/testing/test-certificates';
import { CLIENT_AUTH, testAuthority, testCertificate } from '../../../shared/certs/testing/test-certificates';
import type { PeerCertificates } from '../request/exchange';
import type { ClientAuthorities } from './peer-certificates';
import type { TestServer } from './testing/client';
import { readToEnd, startServer, textAnswer } from './testing/client';

const root = testAuthority({ commonName: 'root' });
const upper = testAuthority({ commonName: 'upper', issuer: root });
const lower = testAuthority({ commonName: 'lower', issuer: upper });
const alice = testCertificate({ commonName: 'alice', extendedUsages: [CLIENT_AUTH], issuer: lower });
const stranger = testCertificate({ commonName: 'stranger' });

let pem = root.pem;
let onChange = (): void => undefined;
const authorities: ClientAuthorities = {
  pem: () => pem,
  onChange: (listener) => {
    onChange = listener;
  },
};
const seen: (PeerCertificates | undefined)[] = [];

let running: TestServer;
async function start(clientAuthorities?: ClientAuthorities): Promise<void> {
  running = await startServer(
    async (exchange) => {
      seen.push(exchange.peer);
      const names = (exchange.peer ?? []).map(({ subject }) => subject.replace('CN=', ''));
      exchange.answer = textAnswer(names.join(' ') || 'no certificate');
      await Promise.resolve();
    },
    { clientAuthorities, handshakes: { perSecond: 1_000, burst: 1_000 } },
  );
}
beforeEach(async () => {
  pem = root.pem;
  seen.length = 0;
  await start(authorities);
});
afterEach(async () => running.stop());

function shown(first: TestCertificate, ...more: readonly TestCertificate[]): ConnectionOptions {
  return { key: first.keyPem, cert: [first, ...more].map((each) => each.pem).join('') };
}

async function open(options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ port: running.port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

/** Sends one request over a new connection and returns what the server saw. */
async function ask(options: ConnectionOptions, headers = ''): Promise<string> {
  const socket = await open(options);
  socket.write(`GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n`);
  return (await readToEnd(socket)).split('\r\n\r\n')[1] ?? '';
}

const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;

describe.each(VERSIONS)('over %s', (version) => {
  const only = { minVersion: version, maxVersion: version };

  test('the server sees the certificate chain of the client, and requires none', async () => {
    expect(await ask({ ...only, ...shown(alice, lower, upper) })).toBe('alice lower upper');
    // Long enough for a price of its own in the limit of handshakes.
    const long = shown(alice, lower, upper, root, stranger, lower, upper, root, stranger);
    expect(await ask({ ...only, ...long })).toBe('alice lower upper root stranger lower upper root stranger');
    expect(await ask({ ...only, ...shown(stranger) })).toBe('stranger');
    expect(await ask(only)).toBe('no certificate');
  });

  test('a session is not resumed: it neither loses certificates nor brings any', async () => {
    const first = await open({ ...only, ...shown(alice, lower, upper) });
    let session: Buffer | undefined = first.getSession();
    first.on('session', (ticket: Buffer) => {
      session = ticket;
    });
    first.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await readToEnd(first);
    expect(session).toBeInstanceOf(Buffer);
    const again = await open({ ...only, ...shown(alice, lower, upper), ...(session && { session }) });
    expect(again.isSessionReused()).toBe(false);
    again.destroy();
    expect(await ask({ ...only, ...shown(alice, lower, upper), ...(session && { session }) })).toBe(
      'alice lower upper',
    );
    expect(await ask({ ...only, ...(session && { session }) })).toBe('no certificate');
  });
});

test('a client cannot change its identity within a connection', async () => {
  const socket = await open({ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2', ...shown(alice) });
  const error = await new Promise<Error | null>((resolve) => {
    socket.renegotiate({ rejectUnauthorized: false }, resolve);
    socket.once('close', () => {
      resolve(new Error('closed'));
    });
    socket.once('error', resolve);
  });
  expect(error).not.toBeNull();
  socket.destroy();
});

test('the certificates are read once per connection', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false, ...shown(alice) });
  await running.send({ agent, path: '/' });
  await running.send({ agent, path: '/' });
  await ask(shown(alice));
  expect(seen[0]).toBeDefined();
  expect(seen[1]).toBe(seen[0]);
  expect(seen[2]).not.toBe(seen[0]);
  agent.destroy();
});

test('the listener for upgrades sees them too', async () => {
  const upgrade =
    'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
  const socket = await open(shown(alice));
  socket.write(`GET / HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`);
  expect(await readToEnd(socket)).toMatch(/\r\n\r\nalice$/);
});

test('the handshake sends the names of the current authorities', async () => {
  expect(await sentNames()).toContain('root');
  pem = testAuthority({ commonName: 'newcomer' }).pem;
  onChange();
  const names = await sentNames();
  expect(names).toContain('newcomer');
  expect(names).not.toContain('root');
  expect(await ask(shown(alice))).toBe('alice');
});

/** Reads the unencrypted part of a TLS 1.2 handshake, which has the certificate request. */
async function sentNames(): Promise<string> {
  const wire = createConnection({ port: running.port, host: '127.0.0.1' });
  let bytes = '';
  wire.on('data', (chunk: Buffer) => {
    bytes += chunk.toString('latin1');
  });
  const through = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      wire.write(chunk, done);
    },
  });
  wire.on('data', (chunk: Buffer) => through.push(chunk));
  const socket = connect({ socket: through, rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  wire.destroy();
  socket.destroy();
  return bytes;
}

test('without client authorities no certificate is requested', async () => {
  await running.stop();
  await start();
  expect(await ask(shown(alice))).toBe('no certificate');
});

describe.each(VERSIONS)('with two authorities of one name over %s', (version) => {
  const only = { minVersion: version, maxVersion: version };
  const twins = [testAuthority({ commonName: 'twin' }), testAuthority({ commonName: 'twin' })];
  const clients = twins.map((issuer) => testCertificate({ commonName: 'client', issuer }));
  beforeEach(() => {
    pem = twins.map((each) => each.pem).join('');
    onChange();
  });

  test('a certificate of either authority opens a usable connection, however its bytes arrive', async () => {
    const relay = await inPieces();
    const { port } = relay.address() as AddressInfo;
    for (const client of clients) {
      expect(await ask({ ...only, ...shown(client) })).toBe('client');
      expect(await ask({ ...only, ...shown(client), port })).toBe('client');
    }
    relay.close();
  });

  test('a certificate that is sent with both authorities opens a usable connection', async () => {
    for (const client of clients) {
      expect(await ask({ ...only, ...shown(client, ...twins) })).toBe('client twin twin');
    }
  });
});

const PIECE_BYTES = 100;

/** Opens a port that forwards in pieces, each in a turn of the event loop of its own, so that the server reads half records. */
async function inPieces(): Promise<NetServer> {
  const relay = createServer((client) => {
    const upstream = createConnection({ port: running.port, host: '127.0.0.1', noDelay: true });
    upstream.pipe(client);
    const pieces = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        const writeFrom = (at: number): void => {
          if (at >= chunk.length) done();
          else
            upstream.write(chunk.subarray(at, at + PIECE_BYTES), () =>
              setImmediate(writeFrom, at + PIECE_BYTES),
            );
        };
        writeFrom(0);
      },
    });
    client.pipe(pieces);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  return relay;
}
