import { once } from 'node:events';
import { StatusError } from '../../../shared/errors/status-error';
import type { Exchange } from '../request/exchange';
import { ClientGoneError } from '../request/initial-values';
import { BODY_BYTES_MAX } from './limits';
import type { Pipeline } from './request-handler';
import type { TestServer } from './testing/client';
import { always, asJane, deferred, readToEnd, startServer, textAnswer } from './testing/client';

let running: TestServer | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function start(...args: Parameters<typeof startServer>): Promise<TestServer> {
  running = await startServer(...args);
  return running;
}

const bodyLength: Pipeline = async (exchange) => {
  exchange.answer = textAnswer(String((await exchange.readBody()).length));
};

// eslint-disable-next-line require-yield -- it fails first
async function* failing(): AsyncGenerator<Buffer> {
  await Promise.resolve();
  throw new StatusError('Expired', 'too old');
}

async function* torn(): AsyncGenerator<Buffer> {
  yield Buffer.from('a part');
  await Promise.resolve();
  throw new Error('torn');
}

describe('the exchange', () => {
  test('has the method, path, query, headers and body of the client', async () => {
    let seen: Exchange | undefined;
    const { send } = await start(
      always((exchange) => {
        seen = exchange;
        return textAnswer('');
      }),
    );
    const begunAt = Date.now();
    await send({
      method: 'PUT',
      path: '/api/v1/pods/%2fa%20b?watch=1&x=a%26b',
      headers: { 'X-Test': 'one' },
      body: 'b',
    });
    expect(seen).toMatchObject({
      method: 'PUT',
      path: '/api/v1/pods/%2fa%20b',
      remoteAddress: '127.0.0.1',
      upgrade: false,
      headers: { 'x-test': 'one' },
    });
    expect(seen?.query.get('watch')).toBe('1');
    expect(seen?.query.get('x')).toBe('a&b');
    expect(seen?.receivedAt).toBeGreaterThanOrEqual(begunAt);
    expect(Date.now()).toBeGreaterThanOrEqual(seen?.receivedAt ?? Infinity);
  });

  test('an absolute URL as request target is reduced to path and query', async () => {
    const { connect } = await start(
      always((exchange) => textAnswer(`${exchange.path}?${exchange.query.toString()}`)),
    );
    const socket = await connect();
    socket.write(
      'GET https://example.com/version?a=b HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n',
    );
    expect(await readToEnd(socket)).toMatch(/\r\n\r\n\/version\?a=b$/);
  });

  test('needless percent-encoding in a path is decoded', async () => {
    const { connect } = await start(always((exchange) => textAnswer(exchange.path)));
    const socket = await connect();
    socket.write('GET /v%65rsion%2f%C3%A4 HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n');
    expect(await readToEnd(socket)).toMatch(/\r\n\r\n\/version%2f%C3%A4$/);
  });

  test.each([
    [1_000, /\r\n\r\nbob true$/u],
    [1_001, /^HTTP\/1.1 431 [^]*Connection: close/u],
    [8_000, /^HTTP\/1.1 431 [^]*Connection: close/u],
  ])(
    'has every header, or none of more than 1,000: the last of %d may be an impersonation header',
    async (count, expected) => {
      const { connect } = await start(
        always(({ headers, rawHeaders }) =>
          textAnswer(
            `${String(headers['impersonate-user'])} ${String(rawHeaders.includes('Impersonate-User'))}`,
          ),
        ),
      );
      const socket = await connect();
      const junk = Array.from({ length: count - 2 }, () => 'a: b\r\n').join('');
      socket.write(`GET / HTTP/1.1\r\nHost: x\r\n${junk}Impersonate-User: bob\r\n\r\n`);
      const text = readToEnd(socket);
      socket.end();
      expect(await text).toMatch(expected);
    },
  );

  test('a query of more than 1,000 parameters is refused before it is parsed', async () => {
    const { send } = await start(always(({ query }) => textAnswer(String(query.size))));
    const sent = async (count: number): Promise<unknown> => send({ path: `/?${'a=b&'.repeat(count - 1)}a` });
    expect(await sent(1_000)).toMatchObject({ code: 200, text: '1000' });
    expect(await sent(1_001)).toMatchObject({ code: 400, headers: { connection: 'close' } });
  });

  test.each([
    ['anonymous', 403, 'close'],
    ['anonymous', 200, 'keep-alive'],
    ['anonymous', 503, 'keep-alive'],
    ['jane', 403, 'keep-alive'],
  ])('of %s ends its connection after a refusal only: %d', async (user, code, connection) => {
    const pipeline = always(() => textAnswer('', code));
    const { send } = await start(user === 'jane' ? asJane(pipeline) : pipeline);
    expect(await send({})).toMatchObject({ code, headers: { connection } });
  });

  test('ids differ from request to request', async () => {
    const { send } = await start(always(({ id }) => textAnswer(id)));
    expect((await send({})).text).not.toBe((await send({})).text);
  });
});

describe('answers', () => {
  test('a buffer body is sent with its Content-Length, without headers of Express', async () => {
    const { send } = await start(always(() => textAnswer('hälló')));
    const reply = await send({});
    expect(reply).toMatchObject({ code: 200, text: 'hälló', headers: { 'content-length': '7' } });
    expect(reply.headers['cache-control']).toBe('no-cache, private');
    expect(Object.keys(reply.headers).sort()).toEqual(
      ['cache-control', 'connection', 'content-length', 'content-type', 'date', 'keep-alive'].sort(),
    );
  });

  test('an answer may set its own Cache-Control', async () => {
    const { send } = await start(
      always(() => ({ ...textAnswer(''), headers: { 'Cache-Control': 'public, max-age=60' } })),
    );
    expect((await send({})).headers['cache-control']).toBe('public, max-age=60');
  });

  test('HEAD gets the headers of the answer only', async () => {
    const { send } = await start(always(() => textAnswer('12345')));
    expect(await send({ method: 'HEAD' })).toMatchObject({
      code: 200,
      text: '',
      headers: { 'content-length': '5' },
    });
  });

  test('HEAD of a stream closes it without reading a piece', async () => {
    const closed = deferred();
    const iterator = {
      next: async () => Promise.reject(new Error('the stream must not be read')),
      return: async () => {
        closed.resolve();
        return Promise.resolve({ done: true as const, value: undefined });
      },
    };
    const body = { [Symbol.asyncIterator]: () => iterator };
    const { send } = await start(always(() => ({ code: 200, headers: {}, body })));
    expect(await send({ method: 'HEAD' })).toMatchObject({ code: 200, text: '' });
    await closed.promise;
  });

  test('a header may have several values, and warnings are quoted, in UTF-8 and without duplicates', async () => {
    const { send } = await start(
      always((exchange) => {
        exchange.warnings.push('say "no"\r\n to \\', 'zwölf ≠ 12', 'zwölf ≠ 12');
        return { ...textAnswer(''), headers: { Vary: ['Accept', 'Accept-Encoding'] } };
      }),
    );
    const { rawHeaders } = await send({});
    const named = (name: string) => rawHeaders.filter((_value, index) => rawHeaders[index - 1] === name);
    expect(named('Vary')).toEqual(['Accept', 'Accept-Encoding']);
    expect(named('Warning').map((value) => Buffer.from(value, 'latin1').toString('utf8'))).toEqual([
      String.raw`299 - "say \"no\"   to \\"`,
      '299 - "zwölf ≠ 12"',
    ]);
  });

  test('a connection serves one request after the other', async () => {
    const { connect } = await start(always(({ path }) => textAnswer(path)));
    const socket = await connect();
    const text = readToEnd(socket);
    socket.write('GET /first HTTP/1.1\r\nHost: a\r\n\r\n');
    socket.write('GET /second HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(await text).toMatch(/^HTTP\/1.1 200 OK[^]*\/firstHTTP\/1.1 200 OK[^]*\/second$/);
  });
});

describe('errors', () => {
  test('an error of a stage becomes its Status', async () => {
    const { send } = await start(async () =>
      Promise.reject(new StatusError('TooManyRequests', 'slow down', { details: { retryAfterSeconds: 7 } })),
    );
    const reply = await send({});
    expect(reply).toMatchObject({
      code: 429,
      headers: { 'retry-after': '7', 'content-type': 'application/json' },
    });
    expect(JSON.parse(reply.text)).toMatchObject({
      kind: 'Status',
      reason: 'TooManyRequests',
      message: 'slow down',
      code: 429,
    });
  });

  test('a pipeline that ends without an answer is a 500', async () => {
    const { send } = await start(async () => Promise.resolve());
    expect(await send({})).toMatchObject({
      code: 500,
      text: expect.stringContaining('InternalError') as string,
    });
  });

  test('a stream that fails before its first piece is an ordinary error', async () => {
    const { send } = await start(
      always(() => ({
        code: 200,
        headers: {},
        body: failing(),
      })),
    );
    expect(await send({})).toMatchObject({ code: 410 });
  });

  test('a stream that fails later is cut, so that the client sees that it is incomplete', async () => {
    const { send } = await start(
      always(() => ({
        code: 200,
        headers: {},
        body: torn(),
      })),
    );
    await expect(send({})).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('a URL over the limit is 414 and the connection stays open', async () => {
    const { send } = await start(always(() => textAnswer('')));
    expect(await send({ path: `/${'a'.repeat(32 * 1_024)}` })).toMatchObject({ code: 414 });
    expect(await send({ path: `/${'a'.repeat(32 * 1_024 - 1)}` })).toMatchObject({ code: 200 });
  });

  test('headers over the limit are 431 in plain text', async () => {
    const { connect } = await start(always(() => textAnswer('')));
    const socket = await connect();
    socket.write(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(65 * 1_024)}\r\n\r\n`);
    expect(await readToEnd(socket)).toMatch(/^HTTP\/1.1 431 Request Header Fields Too Large\r\n/);
  });

  test.each([
    'rubbish\r\n\r\n',
    'GET / HTTP/1.1\r\nbad header\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
  ])('%j is 400 in plain text', async (bytes) => {
    const { connect } = await start(always(() => textAnswer('')));
    const socket = await connect();
    socket.write(bytes);
    expect(await readToEnd(socket)).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
  });
});

test.each([
  'Host: a\r\nHost: b',
  'host: a\r\nHOST: a',
  'Host: a\r\nConnection: Upgrade\r\nUpgrade: x\r\nHost: b',
])('%j names its host twice and is 400, on a connection that closes', async (headers) => {
  let asked = 0;
  const { connect } = await start(
    always(() => {
      asked += 1;
      return textAnswer('');
    }),
  );
  const socket = await connect();
  socket.write(`GET / HTTP/1.1\r\n${headers}\r\n\r\n`);
  const text = await readToEnd(socket);
  expect(text).toMatch(/^HTTP\/1.1 400 Bad Request\r\n[^]*Connection: close\r\n[^]*too many Host headers$/);
  expect(asked).toBe(0);
});

describe('request bodies', () => {
  test('a body of exactly the limit is read', async () => {
    const { send } = await start(bodyLength);
    const body = Buffer.alloc(BODY_BYTES_MAX);
    expect(await send({ method: 'POST', body })).toMatchObject({ code: 200, text: '3145728' });
    expect(await send({ method: 'POST', headers: { 'Transfer-Encoding': 'chunked' }, body })).toMatchObject({
      code: 200,
    });
  });

  test.each([
    ['with Content-Length', {}],
    ['found out on the way', { 'Transfer-Encoding': 'chunked' }],
  ])('one byte more, %s, is 413 and the connection lives on', async (_how, headers) => {
    const { send } = await start(asJane(bodyLength));
    const reply = await send({ method: 'POST', headers, body: Buffer.alloc(BODY_BYTES_MAX + 1) });
    expect(reply).toMatchObject({ code: 413, headers: { connection: 'keep-alive' } });
    expect(JSON.parse(reply.text)).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Request entity too large: limit is 3145728',
      reason: 'RequestEntityTooLarge',
      code: 413,
    });
    expect(await send({ method: 'POST', body: 'abc' })).toMatchObject({ code: 200, text: '3' });
  });

  test('a body without end gets 413, then the connection is closed', async () => {
    const { connect } = await start(bodyLength);
    const socket = await connect();
    const text = readToEnd(socket);
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    const megabyte = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000), Buffer.from('\r\n')]);
    const more = (): void => {
      if (socket.writable) socket.write(megabyte, more);
    };
    more();
    expect(await text).toMatch(/^HTTP\/1.1 413 /);
  });

  test('an unread body is discarded, and the connection is reused', async () => {
    const { send } = await start(always(() => textAnswer('no thanks', 401)));
    expect(await send({ method: 'POST', body: Buffer.alloc(1_000_000) })).toMatchObject({ code: 401 });
    expect(await send({ method: 'POST', body: 'x' })).toMatchObject({ code: 401 });
  });

  test('reading twice gives the same body', async () => {
    const { send } = await start(async (exchange) => {
      const [a, b] = [await exchange.readBody(), await exchange.readBody()];
      exchange.answer = textAnswer(String(a === b));
    });
    expect(await send({ method: 'POST', body: 'abc' })).toMatchObject({ text: 'true' });
  });

  test('Expect: 100-continue gets 100 when the body is read', async () => {
    const { send } = await start(bodyLength);
    expect(
      await send({ method: 'POST', headers: { Expect: '100-continue', 'Content-Length': 3 }, body: 'abc' }),
    ).toMatchObject({
      code: 200,
      text: '3',
    });
  });

  test('Expect: 100-continue with a body over the limit is refused, and the connection closes', async () => {
    const { send } = await start(bodyLength);
    const headers = { Expect: '100-continue', 'Content-Length': BODY_BYTES_MAX + 1 };
    expect(await send({ method: 'POST', headers })).toMatchObject({
      code: 413,
      headers: { connection: 'close' },
    });
  });

  test('a client that disconnects in its body ends the reading', async () => {
    const failed = deferred<unknown>();
    const reading = deferred();
    const { connect } = await start(async (exchange) => {
      const body = exchange.readBody();
      reading.resolve();
      failed.resolve(await body.catch((error: unknown) => error));
    });
    const socket = await connect();
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
    await reading.promise;
    socket.destroy();
    expect(await failed.promise).toMatchObject({ name: 'ClientGoneError' });
  });
});

test('a request that ends as if its client had disconnected closes the connection', async () => {
  const { connect, server } = await start(async () => Promise.reject(new ClientGoneError()));
  const socket = await connect();
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await readToEnd(socket)).toBe('');
  expect(server.inFlight()).toBe(0);
});

describe('upgrades', () => {
  const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\nHost: a\r\n';

  test('an upgrade request runs the same pipeline and is answered', async () => {
    const { connect } = await start(async (exchange) =>
      Promise.reject(
        new StatusError('BadRequest', `upgrade: ${String(exchange.upgrade)} for ${exchange.path}`),
      ),
    );
    const socket = await connect();
    socket.write(`GET /api/v1/pods HTTP/1.1\r\n${UPGRADE}\r\n`);
    const text = await readToEnd(socket);
    expect(text).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
    expect(text).toContain('upgrade: true for /api/v1/pods');
    expect(text).toContain('Connection: close');
  });

  test('it must not have a body', async () => {
    const { connect } = await start(bodyLength);
    const socket = await connect();
    socket.write(`POST / HTTP/1.1\r\n${UPGRADE}Content-Length: 3\r\n\r\nabc`);
    expect(await readToEnd(socket)).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
  });

  test('a client that disconnects aborts it too', async () => {
    const left = deferred<unknown>();
    const { connect } = await start(async (exchange) => {
      await once(exchange.signal, 'abort');
      left.resolve(exchange.signal.reason);
    });
    const socket = await connect();
    socket.write(`GET / HTTP/1.1\r\n${UPGRADE}\r\n`);
    socket.end();
    socket.destroy();
    expect(await left.promise).toMatchObject({ name: 'ClientGoneError' });
  });
});
