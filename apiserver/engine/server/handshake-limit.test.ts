import { once } from 'node:events';
import net from 'node:net';
import { connect as connectTls } from 'node:tls';
import { silentLog } from '../../../shared/log/log';
import { newConnectionCounts } from './connection-counts';
import { sourceOf } from './handshake-limit';
import type { TestServer } from './testing/client';
import { always, startServer, textAnswer } from './testing/client';

let running: TestServer | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

/** So little that no test is slow enough for another one. */
const ALMOST_NEVER_PER_SECOND = 1e-9;

async function start(burst: number, more: Parameters<typeof startServer>[1] = {}): Promise<TestServer> {
  running = await startServer(
    always(({ path }) => textAnswer(path)),
    { handshakes: { perSecond: ALMOST_NEVER_PER_SECOND, burst }, ...more },
  );
  return running;
}

test('connections over the rate limit of their address are closed before the handshake', async () => {
  const counts = newConnectionCounts();
  const warnings: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => void warnings.push(fields) };
  const { connect, send, server, port } = await start(3, { counts, log });
  const [first] = await Promise.all([connect(), connect()]);
  expect(await send({ path: '/a' })).toMatchObject({ code: 200 });
  await expect(connect()).rejects.toMatchObject({
    code: expect.stringMatching(/ECONNRESET|EPIPE/) as string,
  });
  const raw = net.connect(port, '127.0.0.1').on('error', () => undefined);
  raw.resume();
  await once(raw, 'close');
  expect(raw.bytesRead).toBe(0);
  expect(counts.handshakesRefused).toBe(2);
  expect(warnings).toEqual([{ source: '127.0.0.1' }]);

  // Existing connections and other addresses are not affected.
  expect(await send({ path: '/b' })).toMatchObject({ code: 200 });
  first?.write('GET /c HTTP/1.1\r\nHost: a\r\n\r\n');
  const [answer] = (await once(first ?? raw, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 200/);
  const otherAddress = net.connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
  const other = connectTls({ socket: otherAddress, rejectUnauthorized: false });
  await once(other, 'secureConnect');
  other.destroy();
  expect(server.inFlight()).toBe(0);
});

test('without a limit there is none', async () => {
  running = await startServer(
    always(() => textAnswer('')),
    {},
  );
  const { connect } = running;
  const sockets = await Promise.all(Array.from({ length: 20 }, async () => connect()));
  expect(sockets.every(({ destroyed }) => !destroyed)).toBe(true);
  for (const socket of sockets) socket.destroy();
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ['fe80::1%eth0', 'fe80::2'],
])('%s counts as %s', (one, other) => {
  expect(sourceOf(one)).toBe(sourceOf(other));
});

test.each([
  ['192.0.2.1', '192.0.2.2'],
  ['2001:db8:1:2::1', '2001:db8:1:3::1'],
  ['::1', '127.0.0.1'],
])('%s does not count as %s', (one, other) => {
  expect(sourceOf(one)).not.toBe(sourceOf(other));
});

test('a socket that is already disconnected has no address', () => {
  expect(sourceOf(undefined)).toBe('');
});
