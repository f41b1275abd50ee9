import { once } from 'node:events';
import net from 'node:net';
import type { TLSSocket } from 'node:tls';
import { connect as connectTls } from 'node:tls';
import { isInside } from '../../../shared/client/allowed-addresses';
import { newConnectionCounts } from './connection-counts';
import { readProxyHeader } from './proxy-protocol';
import type { TestServer } from './testing/client';
import { always, startServer, textAnswer } from './testing/client';

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

function v2(command: number, family: number, payload: readonly number[]): Buffer {
  const fixed = Buffer.from([command, family, payload.length >> 8, payload.length & 255]);
  return Buffer.concat([SIGNATURE, fixed, Buffer.from(payload)]);
}

const TCP4 = [192, 0, 2, 7, 198, 51, 100, 1, 0xc0, 0x01, 0x01, 0xbb];
const TCP6 = [...Array<number>(15).fill(0), 1, ...Array<number>(15).fill(0), 2, 0, 80, 1, 187];
const CLIENT = { address: '192.0.2.7', port: 49_153 };

describe('a header', () => {
  test.each([
    ['version 1, IPv4', Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 49153 443\r\n'), CLIENT],
    [
      'version 1, IPv6',
      Buffer.from('PROXY TCP6 2001:db8::7 ::1 1 443\r\n'),
      { address: '2001:db8::7', port: 1 },
    ],
    ['version 1, unknown', Buffer.from('PROXY UNKNOWN ffff::1 ffff::1 1 2\r\n'), undefined],
    ['version 2, IPv4', v2(0x21, 0x11, TCP4), CLIENT],
    ['version 2, IPv4 with TLVs', v2(0x21, 0x11, [...TCP4, 4, 0, 1, 0]), CLIENT],
    ['version 2, IPv6', v2(0x21, 0x21, TCP6), { address: '::1', port: 80 }],
    ['version 2, a health check', v2(0x20, 0, []), undefined],
    ['version 2, a local socket', v2(0x21, 0x31, Array<number>(216).fill(0)), undefined],
  ])('of %s is read, and is partial before its last byte', (_what, header, client) => {
    const rest = Buffer.from('rest');
    expect(readProxyHeader(Buffer.concat([header, rest]))).toEqual({
      is: 'header',
      bytes: header.length,
      client,
    });
    for (let length = 0; length < header.length; length++)
      expect(readProxyHeader(header.subarray(0, length))).toEqual({ is: 'partial' });
  });

  test.each([
    ['a TLS handshake', Buffer.from([22, 3, 1, 2, 0])],
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\n')],
    ['an address of another family', Buffer.from('PROXY TCP4 ::1 ::1 1 443\r\n')],
    ['a name', Buffer.from('PROXY TCP4 localhost 127.0.0.1 1 443\r\n')],
    ['a port that is too large', Buffer.from('PROXY TCP4 127.0.0.1 127.0.0.1 65536 443\r\n')],
    ['too many fields', Buffer.from('PROXY TCP4 127.0.0.1 127.0.0.1 1 443 1\r\n')],
    ['another protocol', Buffer.from('PROXY UDP4 127.0.0.1 127.0.0.1 1 443\r\n')],
    ['a line that does not end', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(107)}`)],
    ['another version', v2(0x31, 0x11, TCP4)],
    ['another command', v2(0x22, 0x11, TCP4)],
    ['a length below that of its addresses', v2(0x21, 0x11, TCP4.slice(0, 11))],
    ['a length beyond the limit', Buffer.concat([SIGNATURE, Buffer.from([0x21, 0x11, 0xff, 0xff])])],
  ])('with %s is malformed', (_what, header) => {
    expect(readProxyHeader(header)).toEqual({ is: 'malformed' });
  });
});

describe('a server after load balancers', () => {
  const counts = newConnectionCounts();
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer(
      always(({ remoteAddress }) => textAnswer(remoteAddress)),
      {
        counts,
        handshakes: { perSecond: 1e-9, burst: 2 },
        isBalancer: isInside(['127.0.0.9/32']),
      },
    );
  });
  afterEach(async () => {
    await server.stop();
  });

  /** Connects as the balancer, and sends these pieces before the handshake. */
  async function connectBy(...pieces: readonly Buffer[]): Promise<TLSSocket> {
    const socket = net.connect({ port: server.port, host: '127.0.0.1', localAddress: '127.0.0.9' });
    socket.setNoDelay(true);
    await once(socket, 'connect');
    for (const piece of pieces) {
      socket.write(piece);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    const tls = connectTls({ socket, rejectUnauthorized: false });
    tls.on('error', () => undefined);
    await once(tls, 'secureConnect');
    return tls;
  }

  async function seenBy(tls: TLSSocket): Promise<string | undefined> {
    tls.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    let text = '';
    for await (const chunk of tls) text += String(chunk);
    return text.trim().split('\r\n').at(-1);
  }

  test('sees and limits the clients of a balancer one by one', async () => {
    const of = (last: number): Buffer => v2(0x21, 0x11, [192, 0, 2, last, ...TCP4.slice(4)]);
    for (const last of [1, 1, 2, 2])
      expect(await seenBy(await connectBy(of(last)))).toContain(`192.0.2.${String(last)}`);
    // The third handshake of one client is refused; other clients of the same balancer are served.
    const refused = counts.handshakesRefused;
    await expect(connectBy(of(1))).rejects.toMatchObject({
      code: expect.stringMatching(/ECONNRESET|EPIPE/) as string,
    });
    expect(counts.handshakesRefused).toBe(refused + 1);
    expect(await seenBy(await connectBy(of(3)))).toContain('192.0.2.3');
  });

  test('reads a header in pieces, and one with the handshake after it', async () => {
    const header = Buffer.from('PROXY TCP6 2001:db8::7 ::1 1 443\r\n');
    const pieces = [header.subarray(0, 3), header.subarray(3, 20), header.subarray(20)];
    expect(await seenBy(await connectBy(...pieces))).toContain('2001:db8::7');
  });

  test('takes a health check as one of the balancer, and other clients as they are', async () => {
    expect(await seenBy(await connectBy(v2(0x20, 0, [])))).toContain('127.0.0.9');
    expect((await server.send({ path: '/' })).text).toBe('127.0.0.1');
  });

  test('closes connections of a balancer without a header', async () => {
    const socket = net.connect({ port: server.port, host: '127.0.0.1', localAddress: '127.0.0.9' });
    socket.on('error', () => undefined);
    socket.resume();
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await once(socket, 'close');
    expect(socket.bytesRead).toBe(0);
  });

  test('does not believe the header of a client', async () => {
    const socket = net.connect({ port: server.port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    socket.end(v2(0x21, 0x11, TCP4));
    await once(socket, 'close');
    // A TLS alert, or nothing.
    expect(text.length).toBeLessThan(100);
  });
});
