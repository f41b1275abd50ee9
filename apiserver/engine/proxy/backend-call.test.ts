import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { Readable } from 'node:stream';
import { eventually } from '../../../shared/testing/eventually';
import type { BackendCall } from './backend-call';
import { callBackend } from './backend-call';
import { newConnectCounts, openConnections } from './connect-counts';

let server: Server;
/** The bytes received on all connections. */
let received: string;
let answer: (socket: Socket) => void;
const counts = newConnectCounts();

beforeEach(async () => {
  received = '';
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      received += piece.toString('latin1');
      answer(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.close();
  await once(server, 'close');
});

function callOf(changes: Partial<BackendCall>): BackendCall {
  return {
    scheme: 'http',
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    tls: {},
    method: 'GET',
    target: '/',
    headers: { host: 'backend' },
    upgrade: false,
    dialMsMax: 60_000,
    purpose: 'test',
    ...changes,
  };
}

const call = async (changes: Partial<BackendCall>): ReturnType<typeof callBackend> =>
  callBackend(callOf(changes), counts, new AbortController().signal);

const SMUGGLED = 'DELETE /other HTTP/1.1\r\nx-remote-user: root\r\n\r\n';

test.each(['GET', 'DELETE', 'OPTIONS', 'POST'])(
  'the body of %s without a length is sent in chunks, so that it cannot smuggle a request',
  async (method) => {
    answer = (socket) => {
      if (received.endsWith('0\r\n\r\n')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      else if (received.endsWith(SMUGGLED)) socket.destroy();
    };
    const { end } = await call({ method, body: Readable.from([Buffer.from(SMUGGLED)]) });
    end();
    expect(received.toLowerCase()).toContain('\r\ntransfer-encoding: chunked\r\n');
    expect(received.split(SMUGGLED)[0]).toMatch(new RegExp(`\r\n\r\n${SMUGGLED.length.toString(16)}\r\n$`));
  },
);

test('a content length without a body is not forwarded', async () => {
  answer = (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  const { end } = await call({ headers: { host: 'backend', 'content-length': '5' } });
  end();
  expect(received.toLowerCase()).not.toContain('content-length');
});

test('a server that switches protocols without an upgrade request fails the call, and the connection closes', async () => {
  answer = (socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  await expect(call({})).rejects.toThrow('the server switched protocols without an upgrade request');
  await eventually('no connection is left', () => openConnections(counts) === 0);
});
