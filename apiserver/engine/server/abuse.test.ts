import { once } from 'node:events';
import net from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Exchange } from '../request/exchange';
import { BODY_PIECES_MAX, DISCARD_BYTES_MAX } from './limits';
import type { TestServer } from './testing/client';
import { always, asJane, deferred, readToEnd, startServer, textAnswer } from './testing/client';

/**
 * Clients that violate HTTP: request smuggling, slowloris, slow bodies. The server survives each, and serves the next
 * client.
 */

let running: TestServer | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** Answers each request with its method and path, and records it. */
async function startNoting(
  settings: Parameters<typeof startServer>[1] = {},
): Promise<TestServer & { readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  running = await startServer(async (exchange) => {
    const body = exchange.upgrade ? '' : (await exchange.readBody()).toString();
    const { method, path } = exchange;
    seen.push({ method, path, body });
    exchange.answer = textAnswer(`<${method} ${path} ${body}>`);
  }, settings);
  return { ...running, seen };
}

function codes(text: string): string[] {
  return [...text.matchAll(/HTTP\/1.1 (\d{3})/gu)].map(([, code = '']) => code);
}

async function talk({ connect }: TestServer, bytes: string): Promise<string> {
  const socket = await connect();
  const text = readToEnd(socket);
  socket.write(bytes);
  return text;
}

async function answerOf({ send }: TestServer): Promise<number> {
  return (await send({ path: '/still-here' })).code;
}

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST /outer HTTP/1.1\r\nHost: a\r\n';

describe('smuggling', () => {
  test.each([
    [
      'a length and chunks',
      `${POST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    ],
    [
      'chunks and a length',
      `${POST}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    ],
    ['two lengths that differ', `${POST}Content-Length: 0\r\nContent-Length: 38\r\n\r\n${SMUGGLED}`],
    ['two lengths that are equal', `${POST}Content-Length: 0\r\nContent-Length: 0\r\n\r\n${SMUGGLED}`],
    ['a list of lengths', `${POST}Content-Length: 0, 38\r\n\r\n${SMUGGLED}`],
    ['a length with a sign', `${POST}Content-Length: +0\r\n\r\n${SMUGGLED}`],
    ['a length that is none', `${POST}Content-Length: 0x26\r\n\r\n${SMUGGLED}`],
    ['a length of many digits', `${POST}Content-Length: 99999999999999999999999\r\n\r\n${SMUGGLED}`],
    ['a coding after chunked', `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${SMUGGLED}`],
    ['an unknown coding', `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
    ['a space before the colon', `${POST}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
    ['a folded header', `${POST}Transfer-Encoding:\r\n chunked\r\nContent-Length: 0\r\n\r\n${SMUGGLED}`],
    ['a bare line feed after a header', `${POST}Content-Length: 0\nX: y\r\n\r\n${SMUGGLED}`],
    ['a bare carriage return in a header', `${POST}X: y\rContent-Length: 38\r\n\r\n${SMUGGLED}`],
    ['a NUL in a header', `${POST}X: y\0z\r\n\r\n${SMUGGLED}`],
    ['a chunk size that is none', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n${SMUGGLED}`],
    ['a chunk size with a sign', `${POST}Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n${SMUGGLED}`],
    [
      'a chunk size of many digits',
      `${POST}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n\r\n${SMUGGLED}`,
    ],
    [
      'a chunk longer than its size',
      `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n${SMUGGLED}`,
    ],
    [
      'a bare line feed after a chunk',
      `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n${SMUGGLED}`,
    ],
    ['a line feed in the target', `GET /outer\n/x HTTP/1.1\r\nHost: a\r\n\r\n${SMUGGLED}`],
  ])('by %s: the request is refused, and the bytes after it are never a request', async (_how, bytes) => {
    const server = await startNoting();
    const text = await talk(server, bytes);
    expect(codes(text)).toEqual(['400']);
    expect(server.seen).toEqual([]);
    expect(await answerOf(server)).toBe(200);
  });

  test('a request of HTTP/0.9 is the last of its connection', async () => {
    const server = await startNoting();
    await talk(server, `GET /outer\r\n\r\n${SMUGGLED}`);
    expect(server.seen.map(({ path }) => path)).not.toContain('/smuggled');
    expect(await answerOf(server)).toBe(200);
  });

  test('a body is not taken for a request, whatever it looks like', async () => {
    const server = await startNoting();
    const text = await talk(
      server,
      `${POST}Content-Length: ${String(SMUGGLED.length)}\r\nConnection: close\r\n\r\n${SMUGGLED}`,
    );
    expect(codes(text)).toEqual(['200']);
    expect(server.seen).toEqual([{ method: 'POST', path: '/outer', body: SMUGGLED }]);
  });

  test('chunk extensions and trailers are passed over, and are no headers', async () => {
    const server = await startNoting();
    const body = '3;a=b\r\nabc\r\n0\r\nImpersonate-User: admin\r\n\r\n';
    const text = await talk(server, `${POST}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${body}`);
    expect(codes(text)).toEqual(['200']);
    expect(server.seen).toEqual([{ method: 'POST', path: '/outer', body: 'abc' }]);
  });

  test('endless chunk extensions are 413', async () => {
    const server = await startNoting();
    const text = await talk(
      server,
      `${POST}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(40_000)}\r\na\r\n`,
    );
    expect(codes(text)).toEqual(['413']);
    expect(await answerOf(server)).toBe(200);
  });

  test('h2c, CONNECT and other upgrades are refused', async () => {
    const server = await startNoting();
    expect(await talk(server, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).not.toMatch(/HTTP\/1.1 [12]/u);
    expect(await talk(server, 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n')).toBe('');
    const h2c = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';
    const upgraded = await talk(server, `GET /h2c HTTP/1.1\r\nHost: a\r\n${h2c}\r\n${SMUGGLED}`);
    expect(codes(upgraded)).toEqual(['200']);
    expect(server.seen).toEqual([{ method: 'GET', path: '/h2c', body: '' }]);
    expect(await answerOf(server)).toBe(200);
  });
});

describe('slow clients (slowloris)', () => {
  async function drip(socket: TLSSocket, text: string): Promise<void> {
    for (const char of text) {
      if (!socket.writable) return;
      socket.write(char);
      await new Promise(setImmediate);
    }
  }

  test('headers sent byte by byte are one request, and other clients do not wait for it', async () => {
    const server = await startNoting();
    const socket = await server.connect();
    const text = readToEnd(socket);
    await drip(socket, 'GET /slow HTTP/1.1\r\nHo');
    expect(await answerOf(server)).toBe(200);
    await drip(socket, 'st: a\r\nConnection: close\r\n\r\n');
    expect(await text).toContain('<GET /slow >');
  });

  test('headers that do not end time out, and their connection is closed', async () => {
    const server = await startNoting({ arrivalMsMax: 30 });
    const text = await talk(server, 'GET /slow HTTP/1.1\r\nHost: a\r\nX: ');
    expect(codes(text)).toEqual(['408']);
    expect(server.seen).toEqual([]);
  });

  test.each([
    ['that is read', 200, '400'],
    ['that is not read', 401, '401'],
  ])('a body in crumbs %s is not followed to its end', async (_which, code, expected) => {
    running = await startServer(async (exchange) => {
      if (code === 200) await exchange.readBody();
      exchange.answer = textAnswer('', code);
    });
    const socket = await running.connect();
    const text = readToEnd(socket);
    socket.write(`${POST}Transfer-Encoding: chunked\r\n\r\n`);
    const crumbs = Buffer.from('1\r\na\r\n'.repeat(BODY_PIECES_MAX));
    const more = (): void => {
      if (socket.writable) socket.write(crumbs, more);
    };
    more();
    expect(codes(await text)).toEqual([expected]);
    while (running.server.inFlight() > 0) await new Promise(setImmediate);
  });

  test('a body that does not end times out too', async () => {
    const server = await startNoting({ arrivalMsMax: 30 });
    const text = await talk(server, `${POST}Content-Length: 10\r\n\r\nabc`);
    expect(codes(text)).toEqual(['408']);
    expect(server.seen).toEqual([]);
    while (server.server.inFlight() > 0) await new Promise(setImmediate);
  });

  test('many silent connections do not affect other clients', async () => {
    const server = await startNoting();
    const silent = await Promise.all(Array.from({ length: 50 }, async () => server.connect()));
    const halfway = Array.from({ length: 50 }, () => net.connect(server.port, '127.0.0.1'));
    await Promise.all(halfway.map(async (socket) => once(socket, 'connect')));
    expect(await answerOf(server)).toBe(200);
    for (const socket of [...silent, ...halfway]) socket.destroy();
  });

  test('bytes that are no TLS end their own connection only', async () => {
    const server = await startNoting();
    const socket = net.connect(server.port, '127.0.0.1').on('error', () => undefined);
    socket.resume();
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'close');
    expect(server.seen).toEqual([]);
    expect(await answerOf(server)).toBe(200);
  });
});

describe('clients that disconnect', () => {
  async function startWaiting(): Promise<{
    readonly server: TestServer;
    readonly begun: Promise<void>;
    readonly left: Promise<unknown>;
  }> {
    const begun = deferred();
    const left = deferred<unknown>();
    running = await startServer(async (exchange: Exchange) => {
      if (exchange.path === '/still-here') {
        exchange.answer = textAnswer('');
        return;
      }
      exchange.signal.addEventListener('abort', () => left.resolve(exchange.signal.reason));
      begun.resolve();
      exchange.answer = textAnswer(String((await exchange.readBody()).length));
      await left.promise;
    });
    return { server: running, begun: begun.promise, left: left.promise };
  }

  test.each([
    ['while their request is under way', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['in the middle of a body', `${POST}Content-Length: 10\r\n\r\nabc`],
    ['in the middle of a chunk', `${POST}Transfer-Encoding: chunked\r\n\r\na\r\nabc`],
    ['with others waiting', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(10)],
  ])('%s leave no resources', async (_when, bytes) => {
    const { server, begun, left } = await startWaiting();
    const socket = await server.connect();
    socket.write(bytes);
    await begun;
    socket.destroy();
    expect(await left).toMatchObject({ name: 'ClientGoneError' });
    while (server.server.inFlight() > 0) await new Promise(setImmediate);
    expect(await answerOf(server)).toBe(200);
  });

  test('by half, with an incomplete request, get 400 or are cut', async () => {
    const server = await startNoting();
    for (const bytes of ['GET / HTTP/1.1\r\nHo', `${POST}Content-Length: 10\r\n\r\nabc`]) {
      const socket = await server.connect();
      const text = readToEnd(socket);
      socket.end(bytes);
      expect(['', '400']).toContain(codes(await text).join());
    }
    expect(server.seen).toEqual([]);
    while (server.server.inFlight() > 0) await new Promise(setImmediate);
    expect(await answerOf(server)).toBe(200);
  });

  test('by half after a pipeline end it with the answers so far, in order', async () => {
    const server = await startNoting();
    const socket = await server.connect();
    const text = readToEnd(socket);
    socket.end(
      Array.from({ length: 10 }, (_each, at) => `GET /${String(at)} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''),
    );
    const answered = [...(await text).matchAll(/<GET \/(\d) >/gu)].map(([, path]) => Number(path));
    expect(answered).toEqual(answered.map((_path, at) => at));
    while (server.server.inFlight() > 0) await new Promise(setImmediate);
    expect(await answerOf(server)).toBe(200);
  });

  test('those that keep sending after their answer are cut', async () => {
    running = await startServer(asJane(always(() => textAnswer('no thanks', 401))));
    const socket = await running.connect();
    const text = readToEnd(socket);
    socket.write(`${POST}Transfer-Encoding: chunked\r\n\r\n`);
    const megabyte = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000), Buffer.from('\r\n')]);
    let sent = 0;
    const more = (): void => {
      sent += megabyte.length;
      if (socket.writable) socket.write(megabyte, more);
    };
    more();
    expect(codes(await text)).toEqual(['401']);
    expect(sent).toBeGreaterThan(DISCARD_BYTES_MAX);
    expect(await running.send({})).toMatchObject({ code: 401 });
  });
});
