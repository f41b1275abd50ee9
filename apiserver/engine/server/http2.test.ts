import { once } from 'node:events';
import type { ClientHttp2Session } from 'node:http2';
import { constants } from 'node:http2';
import { USER, USER_GROUP } from '../../../shared/names';
import { eventually } from '../../../shared/testing/eventually';
import { http2Frame } from '../../../shared/testing/http2-frames';
import type { Exchange, UserInfo } from '../request/exchange';
import { NO_USER } from '../request/initial-values';
import { newConnectionCounts } from './connection-counts';
import { BODY_BYTES_MAX, STREAM_RESETS } from './limits';
import type { Pipeline } from './request-handler';
import type { ServerSettings } from './server';
import type { TestServer } from './testing/client';
import { always, asJane, deferred, startServer, textAnswer } from './testing/client';
import { beginningOfPost, connectHttp2, readReply, sendHttp2 } from './testing/http2-client';

const OFFERED = { streamsMax: 250, goawayChance: 0 };

let running: TestServer | undefined;
const sessions: ClientHttp2Session[] = [];
afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  await running?.stop();
  running = undefined;
});

async function start(pipeline: Pipeline, settings: Partial<ServerSettings> = {}): Promise<TestServer> {
  running = await startServer(asJane(pipeline), { http2: OFFERED, ...settings });
  return running;
}

async function open({ port }: TestServer): Promise<ClientHttp2Session> {
  const session = await connectHttp2(port);
  sessions.push(session);
  return session;
}

const waiting: Pipeline = async (exchange) => {
  await new Promise((_, reject) => {
    exchange.signal.addEventListener('abort', () => reject(exchange.signal.reason as Error));
  });
};

async function* oneEvent(): AsyncGenerator<Buffer> {
  yield Buffer.from('{}\n');
  await new Promise(() => undefined);
}

async function* endless(): AsyncGenerator<Buffer> {
  const piece = Buffer.alloc(64 * 1_024, 'x');
  for (;;) {
    await Promise.resolve();
    yield piece;
  }
}

describe('a request over HTTP/2', () => {
  test('is the same exchange as over HTTP/1.1', async () => {
    let seen: Exchange | undefined;
    const server = await start(async (exchange) => {
      seen = exchange;
      exchange.answer = textAnswer(`${String((await exchange.readBody()).length)} bytes`, 201);
    });
    const session = await open(server);
    const reply = await sendHttp2(
      session,
      { ':method': 'PUT', ':path': '/api/v1/pods/%2fa?watch=1&x=a%26b', 'x-test': 'one', cookie: 'a=b' },
      Buffer.alloc(2_000_000),
    );
    expect(reply).toMatchObject({
      code: 201,
      text: '2000000 bytes',
      headers: { 'content-type': 'text/plain', 'cache-control': 'no-cache, private' },
    });
    expect(seen).toMatchObject({
      method: 'PUT',
      path: '/api/v1/pods/%2fa',
      search: 'watch=1&x=a%26b',
      remoteAddress: '127.0.0.1',
      upgrade: false,
      headers: { 'x-test': 'one', host: `127.0.0.1:${String(server.port)}` },
    });
    const names = seen?.rawHeaders.filter((_, index) => index % 2 === 0);
    expect(names?.filter((name) => name.startsWith(':'))).toEqual([]);
    expect(names?.filter((name) => name === 'host')).toHaveLength(1);
  });

  test('shares its connection with others, and HTTP/1.1 clients have their own', async () => {
    const gate = deferred<undefined>();
    const server = await start(async (exchange) => {
      if (exchange.path === '/late') await gate.promise;
      exchange.answer = textAnswer(exchange.path);
    });
    const session = await open(server);
    const late = sendHttp2(session, { ':path': '/late' });
    expect((await sendHttp2(session, { ':path': '/early' })).text).toBe('/early');
    expect((await server.send({ path: '/old' })).text).toBe('/old');
    gate.resolve(undefined);
    expect((await late).text).toBe('/late');
  });

  test('is answered by a body, by a stream, or by headers alone, with separate warnings', async () => {
    const server = await start(async (exchange) => {
      exchange.warnings.push('one', 'two');
      const long = exchange.path === '/long' ? Buffer.alloc(3_000_000, 'y') : Buffer.from('short');
      exchange.answer = { code: 200, headers: { Connection: 'close', Upgrade: 'x' }, body: long };
      await Promise.resolve();
    });
    const session = await open(server);
    expect((await sendHttp2(session, { ':path': '/long' })).text).toHaveLength(3_000_000);
    const head = await sendHttp2(session, { ':method': 'HEAD', ':path': '/' });
    expect(head).toMatchObject({ code: 200, text: '', headers: { 'content-length': '5' } });
    expect(head.headers['warning']).toEqual(expect.stringContaining('one'));
    expect(head.headers['warning']).toEqual(expect.stringContaining('two'));
    expect(head.headers).not.toHaveProperty('upgrade');
  });

  test('that its client resets is aborted, and the connection stays open', async () => {
    let given: Exchange | undefined;
    const server = await start(async (exchange) => {
      if (exchange.path !== '/wait') {
        exchange.answer = textAnswer('here');
        return;
      }
      given = exchange;
      await waiting(exchange);
    });
    const session = await open(server);
    const stream = session.request({ ':path': '/wait' });
    stream.on('error', () => undefined);
    await eventually('it is under way', async () => given !== undefined);
    stream.close(constants.NGHTTP2_CANCEL);
    await eventually('it is given up', async () => given?.signal.aborted === true);
    expect((await sendHttp2(session, { ':path': '/' })).text).toBe('here');
    expect(server.server.inFlight()).toBe(0);
  });

  test('with a body of unknown length is proxied with it, and one without a body has none', async () => {
    const server = await start(async (exchange) => {
      const chunks: Buffer[] = [];
      const body = exchange.bodyStream();
      for await (const chunk of body ?? []) chunks.push(chunk as Buffer);
      const coding = exchange.headers['transfer-encoding'] ?? 'none';
      exchange.answer = textAnswer(
        body === undefined ? 'nothing' : `${coding}: ${String(Buffer.concat(chunks))}`,
      );
    });
    const session = await open(server);
    const post = { ':method': 'POST', ':path': '/' };
    expect((await sendHttp2(session, post, 'all of it')).text).toBe('chunked: all of it');
    expect((await sendHttp2(session, { ...post, 'content-length': 3 }, 'abc')).text).toBe('none: abc');
    expect((await sendHttp2(session, post)).text).toBe('nothing');
  });

  test('ends with its answer, even if its body has no end', async () => {
    let over = 0;
    const server = await start(async (exchange) => {
      exchange.whenOver(() => (over += 1));
      exchange.answer = textAnswer('early');
      await Promise.resolve();
    });
    const session = await open(server);
    const stream = session.request({ ':method': 'POST', ':path': '/' }, { endStream: false });
    stream.write('a part');
    expect(await readReply(stream)).toMatchObject({ code: 200, text: 'early' });
    await eventually('it is over', async () => over === 1 && server.server.inFlight() === 0);
    expect((await sendHttp2(session, { ':path': '/' })).text).toBe('early');
  });

  test('with Expect: 100-continue gets 100, or is refused on a connection that stays open', async () => {
    const server = await start(async (exchange) => {
      exchange.answer = textAnswer(String(await exchange.readBody()));
    });
    const session = await open(server);
    let away = 0;
    session.on('goaway', () => (away += 1));
    const ask = { ':method': 'POST', ':path': '/', expect: '100-continue' };
    const wanted = session.request({ ...ask, 'content-length': 3 }, { endStream: false });
    wanted.once('continue', () => wanted.end('abc'));
    expect(await readReply(wanted)).toMatchObject({ code: 200, text: 'abc' });
    const refused = session.request({ ...ask, 'content-length': BODY_BYTES_MAX + 1 }, { endStream: false });
    expect((await readReply(refused)).code).toBe(413);
    expect((await sendHttp2(session, { ...ask, expect: 'none' }, 'on')).text).toBe('on');
    expect(away).toBe(0);
  });

  test('that is refused before authentication does not end the connection', async () => {
    const session = await open(await start(always(() => textAnswer('answered'))));
    expect((await sendHttp2(session, { ':path': `/${'a'.repeat(40_000)}` })).code).toBe(414);
    const large = { ':path': '/', 'x-one': 'a'.repeat(32_000), 'x-two': 'b'.repeat(33_500) };
    expect((await sendHttp2(session, large)).code).toBe(431);
    expect((await sendHttp2(session, { ':path': '/' })).text).toBe('answered');
  });

  test('may repeat its host, but not have two hosts', async () => {
    const server = await start(always(({ headers }) => textAnswer(headers.host ?? '')));
    const session = await open(server);
    const to = { ':path': '/', ':authority': 'a.example' };
    expect((await sendHttp2(session, { ...to, host: 'a.example' })).text).toBe('a.example');
    expect((await sendHttp2(session, { ...to, host: 'b.example' })).code).toBe(400);
  });

  test.each(['cancelled', 'reset without an error', 'cut'] as const)(
    'whose body is %s in the middle has none, whether it is read at once or passed on',
    async (how) => {
      const seen: string[] = [];
      let begun = 0;
      const server = await start(async (exchange) => {
        const { path } = exchange;
        const body = path === '/passed' ? exchange.bodyStream() : undefined;
        body?.once('data', () => (begun += 1)).on('end', () => seen.push(path));
        if (body === undefined) {
          begun += 1;
          await exchange.readBody().then(
            () => seen.push(path),
            () => undefined,
          );
        }
        await waiting(exchange);
      });
      for (const [at, path] of ['/read', '/passed'].entries()) {
        const socket = await server.connect(['h2']);
        socket.resume();
        socket.write(beginningOfPost(path, 'kind: '));
        await eventually('it has begun', async () => begun === at + 1);
        if (how === 'cut') socket.destroy();
        else
          socket.write(http2Frame('reset', { payload: Buffer.from([0, 0, 0, how === 'cancelled' ? 8 : 0]) }));
        await eventually('it is given up', async () => server.server.inFlight() === 0);
      }
      expect(seen).toEqual([]);
    },
  );

  test('whose stream breaks in the middle is reset, not ended', async () => {
    const server = await start(
      always(() => ({
        code: 200,
        headers: {},
        body: (async function* () {
          yield Buffer.from('a part');
          await Promise.resolve();
          throw new Error('torn');
        })(),
      })),
    );
    const session = await open(server);
    await expect(sendHttp2(session, { ':path': '/' })).rejects.toThrow('INTERNAL_ERROR');
    expect(session.destroyed).toBe(false);
  });
});

describe('a connection over HTTP/2', () => {
  test('may cancel any number of watches', async () => {
    const counts = newConnectionCounts();
    const server = await start(
      always(() => ({ code: 200, headers: {}, body: oneEvent(), messages: 'lines' })),
      { counts },
    );
    const session = await open(server);
    for (let at = 0; at < STREAM_RESETS.burst + 100; at += 1) {
      const stream = session.request({ ':path': '/' });
      await once(stream, 'data');
      stream.close(constants.NGHTTP2_CANCEL);
    }
    await eventually('all are over', async () => server.server.inFlight() === 0);
    expect(counts.http2Floods).toBe(0);
    expect(session.destroyed).toBe(false);
  });

  test('whose client does not read an answer loses only that answer', async () => {
    const server = await start(
      always((exchange) =>
        exchange.path === '/endless' ? { code: 200, headers: {}, body: endless() } : textAnswer('taken'),
      ),
      { stallMsMax: 50 },
    );
    const session = await open(server);
    const stalled = session.request({ ':path': '/endless' });
    stalled.on('error', () => undefined);
    stalled.pause();
    await once(stalled, 'response');
    expect((await sendHttp2(session, { ':path': '/' })).text).toBe('taken');
    await eventually('the answer is given up', async () => server.server.inFlight() === 0);
    expect((await sendHttp2(session, { ':path': '/' })).text).toBe('taken');
  });

  test('has at most its limit of concurrent streams', async () => {
    let most = 0;
    let now = 0;
    const server = await start(
      async (exchange) => {
        now += 1;
        most = Math.max(most, now);
        await new Promise(setImmediate);
        now -= 1;
        exchange.answer = textAnswer('');
      },
      { http2: { ...OFFERED, streamsMax: 3 } },
    );
    const session = await open(server);
    expect(session.remoteSettings.maxConcurrentStreams).toBe(3);
    const replies = Array.from({ length: 20 }, async () => sendHttp2(session, { ':path': '/' }));
    expect((await Promise.all(replies)).map(({ code }) => code)).toEqual(replies.map(() => 200));
    expect(most).toBeLessThanOrEqual(3);
  });

  test.each<[string, UserInfo, number]>([
    ['that is refused', NO_USER, 401],
    ['that is anonymous', { ...NO_USER, name: USER.anonymous, groups: [USER_GROUP.unauthenticated] }, 200],
  ])('of somebody %s ends with the answer', async (_who, user, code) => {
    const session = await open(
      await start(
        always((exchange) => {
          exchange.user = user;
          return textAnswer('who?', code);
        }),
      ),
    );
    const ended = closed(session);
    let isTold = false;
    session.once('goaway', () => (isTold = true));
    const stream = session.request({ ':path': '/' });
    const reply = readReply(stream);
    await once(stream, 'response');
    // It would ask again in vain if it had the answer before.
    expect(isTold).toBe(true);
    expect((await reply).code).toBe(code);
    await ended;
  });

  test('of an authenticated user stays open after a refusal by an extension API server', async () => {
    const session = await open(await start(always(() => textAnswer('not you', 401))));
    expect((await sendHttp2(session, { ':path': '/' })).code).toBe(401);
    expect((await sendHttp2(session, { ':path': '/' })).code).toBe(401);
  });

  test('with CONNECT is refused', async () => {
    const session = await open(await start(always(() => textAnswer('not reached'))));
    const stream = session.request({ ':method': 'CONNECT', ':authority': 'a.example:443' });
    expect(await readReply(stream)).toMatchObject({ code: 405 });
  });

  test('gets GOAWAY at random, and requests in flight are answered', async () => {
    const server = await start(
      always(() => textAnswer('last')),
      { http2: { ...OFFERED, goawayChance: 1 } },
    );
    const session = await open(server);
    const away = once(session, 'goaway');
    expect((await sendHttp2(session, { ':path': '/' })).text).toBe('last');
    expect((await away)[0]).toBe(constants.NGHTTP2_NO_ERROR);
  });

  test('gets GOAWAY when the server closes, which waits for requests in flight', async () => {
    const gate = deferred<undefined>();
    const server = await start(async (exchange) => {
      await gate.promise;
      exchange.answer = textAnswer('to the end');
    });
    const session = await open(server);
    const away = once(session, 'goaway');
    const reply = readReply(session.request({ ':path': '/' }));
    await eventually('it is under way', async () => server.server.inFlight() === 1);
    const over = server.server.close({ delayMs: 0, graceMs: 60_000 });
    await away;
    gate.resolve(undefined);
    expect((await reply).text).toBe('to the end');
    await over;
  });

  test('is offered only if it is enabled', async () => {
    const { connect } = await start(
      always(() => textAnswer('')),
      { http2: undefined },
    );
    expect((await connect(['h2', 'http/1.1'])).alpnProtocol).toBe('http/1.1');
    await running?.stop();
    const offered = await start(always(() => textAnswer('')));
    expect((await offered.connect(['h2', 'http/1.1'])).alpnProtocol).toBe('h2');
    expect((await offered.connect()).alpnProtocol).toBe(false);
  });
});

/** However it ends. */
async function closed(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => session.once('close', resolve));
}
