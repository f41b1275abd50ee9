import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Server, TLSSocket } from 'node:tls';
import { connect as connectTls, createServer } from 'node:tls';
import { ensureServingCertificate } from '../../../shared/certs/serving-certificate';
import { silentLog } from '../../../shared/log/log';
import { newConnectionCounts } from './connection-counts';
import { limitHandshakes } from './handshake-limit';

const dir = mkdtempSync(path.join(tmpdir(), 'price-'));
const files = ensureServingCertificate({ dir, hosts: ['localhost'] });
const key = readFileSync(files.keyFile, 'utf8');
const cert = readFileSync(files.certFile, 'utf8');
const ca = readFileSync(files.caFile, 'utf8');
/** So little that no test is slow enough for another one. */
const ALMOST_NEVER_PER_SECOND = 1e-9;

let server: Server | undefined;
const opened: Socket[] = [];
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
  server?.close();
});
afterAll(() => rmSync(dir, { recursive: true }));

/** A server that asks for certificates and believes none. */
async function start(burst: number): Promise<{ readonly port: number; readonly refused: () => number }> {
  const counts = newConnectionCounts();
  server = createServer({ key, cert, requestCert: true, rejectUnauthorized: false });
  limitHandshakes(server, { rate: { perSecond: ALMOST_NEVER_PER_SECOND, burst }, counts, log: silentLog });
  server.on('secureConnection', (socket: TLSSocket) => socket.on('error', () => undefined).resume());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, refused: () => counts.handshakesRefused };
}

/** `agreed`, or `closed`. */
async function shake(port: number, certificates: readonly string[] = []): Promise<string> {
  const own = certificates.length === 0 ? {} : { key, cert: certificates.join('\n') };
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...own });
  opened.push(socket);
  return new Promise((resolve) => {
    socket.once('secureConnect', () => resolve('agreed'));
    socket.once('error', () => resolve('closed'));
  });
}

function connectRaw(port: number): Socket {
  const socket = net.connect(port, '127.0.0.1').on('error', () => undefined);
  opened.push(socket);
  return socket;
}

test('a client with one certificate is charged for a handshake, a client with many for each', async () => {
  const { port } = await start(30);
  for (let count = 0; count < 3; count += 1) expect(await shake(port, [cert])).toBe('agreed');
  expect(await shake(port, [cert, ca])).toBe('agreed');
  expect(await shake(port)).toBe('agreed');
  const [served] = (await Promise.all([
    once(server ?? net.createServer(), 'secureConnection'),
    shake(port, [cert, ...Array.from({ length: 60 }, () => ca)]),
  ])) as unknown as [[TLSSocket], string];
  expect(served[0].authorized).toBe(false);
  expect(await shake(port)).toBe('closed');
});

test('a failed handshake is charged by its bytes, and pending handshakes of an address in debt are closed', async () => {
  const { port, refused } = await start(100);
  const waiting = connectRaw(port);
  await once(waiting, 'connect');
  expect(await shake(port)).toBe('agreed');
  const failing = connectRaw(port);
  await once(failing, 'connect');
  const ended = once(waiting, 'close');
  const record = Buffer.alloc(16_000);
  record.set([0x16, 0x03, 0x03, 0x3e, 0x7b]);
  failing.end(Buffer.concat([record, record]));
  await ended;
  expect(refused()).toBe(1);
  expect(await shake(port)).toBe('closed');
});

test('a handshake that fails early costs no more than one', async () => {
  const { port, refused } = await start(3);
  const failing = connectRaw(port);
  failing.end('no TLS');
  failing.resume();
  await once(failing, 'close');
  expect(await shake(port)).toBe('agreed');
  expect(refused()).toBe(0);
});
