import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import type { Log } from '../../../shared/log/log';
import { silentLog } from '../../../shared/log/log';
import { eventually } from '../../../shared/testing/eventually';
import {
  FLAG,
  HTTP2_PREFACE,
  framesOf,
  http2Field,
  http2Frame,
  http2Head,
  ofType,
  uint32,
} from '../../../shared/testing/http2-frames';
import type { Exchange } from '../request/exchange';
import { newConnectionCounts } from './connection-counts';
import { STREAM_RESETS } from './limits';
import type { Pipeline } from './request-handler';
import type { ServerSettings } from './server';
import type { TestServer } from './testing/client';
import { always, asJane, startServer, textAnswer } from './testing/client';

/**
 * Clients that violate HTTP/2: rapid reset, floods and malformed frames. The server survives each, and serves the
 * next client.
 */

let running: TestServer | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function start(pipeline: Pipeline, settings: Partial<ServerSettings> = {}): Promise<TestServer> {
  running = await startServer(asJane(pipeline), {
    http2: { streamsMax: 250, goawayChance: 0 },
    ...settings,
  });
  return running;
}

/** A connection after the client preface and settings. */
async function open({ connect }: TestServer): Promise<TLSSocket> {
  const socket = await connect(['h2']);
  socket.write(HTTP2_PREFACE);
  return socket;
}

async function closed(socket: TLSSocket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once('close', () => resolve());
  });
}

const forever: Pipeline = async ({ signal }) => {
  await new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
};

async function* silence(): AsyncGenerator<Buffer> {
  yield Buffer.alloc(0);
  await new Promise(() => undefined);
}

const WHOLE = FLAG.endHeaders | FLAG.endStream;

function get(at: number, path = '/'): Buffer {
  return http2Frame('headers', { flags: WHOLE, stream: 2 * at + 1, payload: http2Head('GET', path) });
}

function each<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

describe('control frames', () => {
  test.each([
    ['WINDOW_UPDATE', (): Buffer => http2Frame('window', { stream: 0, payload: uint32(1) })],
    ['GOAWAY', (): Buffer => http2Frame('goaway', { stream: 0, payload: Buffer.alloc(8) })],
  ])('%s without end close the connection', async (_what, make) => {
    const counts = newConnectionCounts();
    const server = await start(
      always(() => textAnswer('')),
      { counts },
    );
    const socket = await open(server);
    socket.resume();
    const flood = Buffer.concat(each(2_000, make));
    socket.write(flood);
    await closed(socket);
    expect(counts.http2Floods).toBe(1);
    expect(await server.send({})).toMatchObject({ code: 200 });
  });

  test('WINDOW_UPDATE for what was sent, in small steps, is no flood', async () => {
    const counts = newConnectionCounts();
    const body = Buffer.alloc(1_024 * 1_024, '.');
    const server = await start(
      always(() => ({ code: 200, headers: {}, body })),
      { counts },
    );
    const socket = await open(server);
    const frames = framesOf(socket);
    socket.write(get(0));
    let returned = 0;
    await eventually('the whole body has come', async () => {
      const received = ofType(frames, 'data').reduce((sum, { payload }) => sum + payload.length, 0);
      for (; returned < received; returned += 512) {
        socket.write(http2Frame('window', { stream: 0, payload: uint32(512) }));
        socket.write(http2Frame('window', { stream: 1, payload: uint32(512) }));
      }
      return received >= body.length;
    });
    expect(counts.http2Floods).toBe(0);
  });
});

describe('concurrent requests of one connection', () => {
  test('are started over many turns of the event loop, in which other clients are served', async () => {
    const begun: string[] = [];
    let mostInATurn = 0;
    let inThisTurn = 0;
    const server = await start(async (exchange) => {
      begun.push(exchange.path);
      inThisTurn += 1;
      mostInATurn = Math.max(mostInATurn, inThisTurn);
      exchange.answer = textAnswer('');
      await Promise.resolve();
    });
    const nextTurn = (): void => {
      inThisTurn = 0;
      if (begun.length < 250) setImmediate(nextTurn);
    };
    setImmediate(nextTurn);
    const socket = await open(server);
    const frames = framesOf(socket);
    socket.write(Buffer.concat(each(250, (at) => get(at, `/${String(at)}`))));
    await eventually('all are answered', async () => ofType(frames, 'headers').length === 250);
    expect(begun).toEqual(each(250, (at) => `/${String(at)}`));
    expect(mostInATurn).toBeLessThan(30);
  });

  test('are not started if they are reset before', async () => {
    const begun: string[] = [];
    const server = await start(async (exchange) => {
      begun.push(exchange.path);
      await forever(exchange);
    });
    const socket = await open(server);
    const reset = (at: number): Buffer => http2Frame('reset', { stream: 2 * at + 1, payload: uint32(8) });
    socket.write(
      Buffer.concat([
        ...each(200, (at) => get(at, `/${String(at)}`)),
        ...each(200, reset),
        get(200, '/last'),
      ]),
    );
    await eventually('the last is begun', async () => begun.includes('/last'));
    expect(begun.length).toBeLessThan(150);
    await eventually('nothing else is under way', async () => server.server.inFlight() === 1);
  });

  test('are all answered when the server closes', async () => {
    const server = await start(always((exchange: Exchange) => textAnswer(exchange.path)));
    const socket = await open(server);
    const over = closed(socket);
    const frames = framesOf(socket);
    socket.write(Buffer.concat(each(100, (at) => get(at))));
    while (ofType(frames, 'headers').length === 0) await once(socket, 'data');
    await server.server.close({ delayMs: 0, graceMs: 60_000 });
    await over;
    expect(ofType(frames, 'headers').length).toBe(100);
    const ended = ofType(frames, 'data').filter(({ flags }) => (flags & FLAG.endStream) !== 0);
    expect(ended.length).toBe(100);
  });
});

describe('a connection ends', () => {
  test.each<[what: string, frames: (at: number) => readonly Buffer[]]>([
    [
      'requests and their resets',
      (at) => [get(at), http2Frame('reset', { stream: 2 * at + 1, payload: uint32(8) })],
    ],
    [
      'resets that say all is well',
      (at) => [get(at), http2Frame('reset', { stream: 2 * at + 1, payload: uint32(0) })],
    ],
    [
      'faults for which the server resets requests',
      (at) => [get(at), http2Frame('window', { stream: 2 * at + 1, payload: uint32(0x7fff_ffff) })],
    ],
    ['SETTINGS', () => [http2Frame('settings', { stream: 0 })]],
    ['PING', () => [http2Frame('ping', { stream: 0, payload: Buffer.alloc(8) })]],
    [
      'PRIORITY',
      (at) => [http2Frame('priority', { stream: 2 * at + 1, payload: Buffer.from([0, 0, 0, 0, 15]) })],
    ],
    ['unknown frames', () => [http2Frame('unknown', { stream: 0, payload: Buffer.alloc(100) })]],
    ['requests beyond the limit', (at) => [get(at)]],
    [
      'one head in pieces without end',
      (at) => [
        at === 0
          ? http2Frame('headers', { flags: FLAG.endStream, payload: http2Head('GET', '/') })
          : http2Frame('continuation', { payload: http2Field('x', 'y') }),
      ],
    ],
    [
      'one head in empty pieces',
      (at) => [
        at === 0
          ? http2Frame('headers', { flags: FLAG.endStream, payload: http2Head('GET', '/') })
          : http2Frame('continuation'),
      ],
    ],
    [
      'empty pieces of a body',
      (at) => [
        at === 0
          ? http2Frame('headers', { flags: FLAG.endHeaders, payload: http2Head('POST', '/') })
          : http2Frame('data'),
      ],
    ],
  ])('by %s without end', async (_what, make) => {
    const server = await start(async (exchange) => {
      if (exchange.path === '/still-here') exchange.answer = textAnswer('');
      else await forever(exchange);
    });
    const socket = await open(server);
    socket.resume();
    const over = closed(socket);
    let at = 0;
    const send = (): void => {
      if (socket.destroyed) return;
      socket.write(Buffer.concat(each(100, () => make(at++)).flat()), () => setImmediate(send));
    };
    send();
    await over;
    await eventually('nothing is left', async () => server.server.inFlight() === 0);
    expect((await server.send({ path: '/still-here' })).code).toBe(200);
  });

  test('but not by endless window updates, during which other clients are served', async () => {
    const server = await start(
      always(({ path }) => textAnswer(path === '/large' ? 'x'.repeat(1_000_000) : '')),
    );
    const socket = await open(server);
    const frames = framesOf(socket);
    socket.write(get(0, '/large'));
    const byOne = http2Frame('window', { stream: 0, payload: uint32(1) });
    const many = Buffer.concat(each(5_000, () => byOne));
    let isOver = false;
    let rounds = 0;
    const send = (): void => {
      rounds += 1;
      if (!isOver) socket.write(many, () => setImmediate(send));
    };
    send();
    for (let at = 0; at < 20; at += 1) expect((await server.send({ path: '/' })).code).toBe(200);
    await eventually('the flood continues', async () => rounds > 20);
    isOver = true;
    expect(ofType(frames, 'goaway')).toEqual([]);
  });

  test('by resets of open watches, unless they are cancelled', async () => {
    const counts = newConnectionCounts();
    const server = await start(
      always(() => ({ code: 200, headers: {}, body: silence(), messages: 'lines' })),
      { counts },
    );
    const socket = await open(server);
    const over = closed(socket);
    const frames = framesOf(socket);
    for (let from = 0; !socket.destroyed; from += 200) {
      const watches = each(200, (at) => from + at);
      socket.write(Buffer.concat(watches.map((at) => get(at))));
      const begun = (): boolean => ofType(frames, 'headers').length === from + 200;
      await eventually('they have begun', async () => begun() || socket.destroyed);
      const resets = watches.map((at) => http2Frame('reset', { stream: 2 * at + 1, payload: uint32(1) }));
      socket.write(Buffer.concat(resets));
    }
    await over;
    expect(counts.http2Floods).toBe(1);
  });

  test.each([
    ['the body of a request that was answered', 16_000],
    ['empty pieces of it', 0],
  ])('by %s, without end', async (_what, bytes) => {
    const counts = newConnectionCounts();
    const server = await start(
      always(() => textAnswer('')),
      { counts },
    );
    const socket = await open(server);
    const over = closed(socket);
    const frames = framesOf(socket);
    socket.write(http2Frame('headers', { flags: FLAG.endHeaders, payload: http2Head('POST', '/') }));
    while (ofType(frames, 'reset').length === 0) await once(socket, 'data');
    const part = http2Frame('data', { payload: Buffer.alloc(bytes) });
    const many = Buffer.concat(each(bytes === 0 ? 5_000 : 100, () => part));
    const send = (): void => {
      if (!socket.destroyed) socket.write(many, () => setImmediate(send));
    };
    send();
    await over;
    expect(counts.http2Floods).toBe(1);
  });

  test('but not by answered requests with bodies', async () => {
    const counts = newConnectionCounts();
    const server = await start(
      async (exchange) => {
        for await (const _chunk of exchange.bodyStream() ?? []);
        exchange.answer = textAnswer('taken');
      },
      { counts },
    );
    const socket = await open(server);
    const frames = framesOf(socket);
    const answered = (): number =>
      ofType(frames, 'data').filter(({ flags }) => flags === FLAG.endStream).length;
    const posts = 3 * STREAM_RESETS.burst;
    for (let from = 0; from < posts; from += 100) {
      const sent = each(100, (index) => {
        const stream = 2 * (from + index) + 1;
        const head = http2Frame('headers', {
          stream,
          flags: FLAG.endHeaders,
          payload: http2Head('POST', '/'),
        });
        return [head, http2Frame('data', { stream, flags: FLAG.endStream, payload: Buffer.from('{}') })];
      });
      socket.write(Buffer.concat(sent.flat()));
      await eventually('they are answered', async () => answered() >= from + 100 || socket.destroyed);
    }
    expect([answered(), socket.destroyed, counts.http2Floods]).toEqual([posts, false, 0]);
    socket.destroy();
  });

  test('with a log line and a counter', async () => {
    const lines: unknown[] = [];
    const log: Log = { ...silentLog, info: (fields) => void lines.push(fields) };
    const counts = newConnectionCounts();
    const server = await start(forever, { log, counts });
    const socket = await open(server);
    socket.resume();
    const over = closed(socket);
    // So many that a slow machine, on which more are allowed meanwhile, ends it as well.
    for (let at = 0; at < 10 * STREAM_RESETS.burst; at += 1) {
      socket.write(get(at));
      socket.write(http2Frame('reset', { stream: 2 * at + 1, payload: uint32(8) }));
    }
    await over;
    expect(lines).toContainEqual({ source: '127.0.0.1', what: 'requests that were given up' });
    expect(counts.http2Floods).toBe(1);
  });
});

describe('a request', () => {
  test.each<[what: string, fields: readonly Buffer[]]>([
    ['a field that belongs to connections', [http2Field('connection', 'close')]],
    ['chunks', [http2Field('transfer-encoding', 'chunked')]],
    ['a name in capitals', [http2Field('X-Capital', 'a')]],
    ['two lengths', [http2Field('content-length', '0'), http2Field('content-length', '3')]],
    ['a second path', [http2Field(':path', '/other')]],
    ['an upgrade', [http2Field('upgrade', 'websocket')]],
  ])('with %s is not begun', async (_what, fields) => {
    let begun = 0;
    const server = await start(
      always(() => {
        begun += 1;
        return textAnswer('');
      }),
    );
    const socket = await open(server);
    const frames = framesOf(socket);
    socket.write(http2Frame('headers', { flags: WHOLE, payload: http2Head('GET', '/', fields) }));
    await eventually('it is refused', async () => ofType(frames, 'reset').length > 0 || socket.destroyed);
    expect(begun).toBe(0);
  });

  test.each<[what: string, field: Buffer]>([
    ['a line break', http2Field('impersonate-user', 'a\r\nb')],
    ['a control character', http2Field('impersonate-user', 'bob\u0001')],
    ['a space before its value', http2Field('impersonate-user', ' bob')],
    ['a space after its value', http2Field('impersonate-user', 'bob ')],
    ['a tab after its value', http2Field('impersonate-group', 'ops\t')],
    ['a space in its name', http2Field('impersonate user', 'bob')],
    ['no name', http2Field('', 'bob')],
    ['a host that is none', http2Field('host', 'a b')],
  ])('of which nghttp2 would leave out a field with %s is refused, others are not', async (_what, field) => {
    const begun: string[] = [];
    const server = await start(
      always(({ headers, path }) => {
        begun.push(`${path} as ${String(headers['impersonate-user'])}`);
        return textAnswer('');
      }),
    );
    const socket = await open(server);
    const frames = framesOf(socket);
    const send = (at: number, path: string, fields: readonly Buffer[]): boolean =>
      socket.write(
        http2Frame('headers', { flags: WHOLE, stream: 2 * at + 1, payload: http2Head('GET', path, fields) }),
      );
    send(0, '/bad', [http2Field('x-first', 'a'), field, http2Field('x-last', 'a')]);
    send(1, '/good', [http2Field('impersonate-user', 'b o\tb')]);
    await eventually('both are answered', async () => ofType(frames, 'headers').length === 2);
    expect(begun).toEqual(['/good as b o\tb']);
    const refusal = ofType(frames, 'data').find(({ stream, payload }) => stream === 1 && payload.length > 0);
    expect(String(refusal?.payload)).toContain('a field of the request head');
  });

  test('whose body does not match its content-length has no answer', async () => {
    const bodies: string[] = [];
    const server = await start(async (exchange) => {
      bodies.push(String(await exchange.readBody()));
      exchange.answer = textAnswer('');
    });
    for (const [said, part] of [
      ['3', 'abcdef'],
      ['6', 'abc'],
    ] as const) {
      const socket = await open(server);
      const frames = framesOf(socket);
      const payload = http2Head('POST', '/', [http2Field('content-length', said)]);
      socket.write(http2Frame('headers', { flags: FLAG.endHeaders, payload }));
      socket.write(http2Frame('data', { flags: FLAG.endStream, payload: Buffer.from(part) }));
      await eventually('it is refused', async () => ofType(frames, 'reset').length > 0 || socket.destroyed);
    }
    await eventually('nothing is under way', async () => server.server.inFlight() === 0);
    expect(bodies).toEqual([]);
  });

  test('whose headers become large by the HPACK table (bomb) is refused, and so are many such', async () => {
    let begun = 0;
    const server = await start(async (exchange) => {
      begun += 1;
      await forever(exchange);
    });
    const socket = await open(server);
    const frames = framesOf(socket);
    // `x: yyy…` goes into the table of the connection, of which each further byte is a copy of it.
    const large = Buffer.from('y'.repeat(3_900));
    const remembered = Buffer.concat([
      Buffer.from([0x40, 1, 0x78, 0x7f, 0x80 | ((large.length - 127) & 0x7f), (large.length - 127) >> 7]),
      large,
    ]);
    const copies = (count: number): Buffer => Buffer.alloc(count, 0x80 | 62);
    const send = (at: number, fields: Buffer): boolean =>
      socket.write(
        http2Frame('headers', { flags: WHOLE, stream: 2 * at + 1, payload: http2Head('GET', '/', [fields]) }),
      );
    send(0, remembered);
    send(1, copies(4_000));
    await eventually('the bomb is refused', async () => ofType(frames, 'reset').length === 1);
    expect(ofType(frames, 'reset')[0]?.stream).toBe(3);
    for (let at = 2; at < 200; at += 1) send(at, copies(14));
    await eventually(
      'all others are begun or refused',
      async () => begun + ofType(frames, 'reset').length === 200,
    );
    // Each takes 55 KB, and 4 MiB are for all of them.
    expect(begun).toBeGreaterThan(60);
    expect(begun).toBeLessThan(90);
  });
});

describe('an answer', () => {
  test('is complete for a client that reads a byte at a time', async () => {
    const server = await start(always(() => textAnswer('x'.repeat(300))));
    const socket = await open(server);
    const frames = framesOf(socket);
    const NO_WINDOW = Buffer.concat([Buffer.from([0, 4]), uint32(0)]);
    socket.write(http2Frame('settings', { stream: 0, payload: NO_WINDOW }));
    socket.write(get(0));
    const taken = (): number =>
      ofType(frames, 'data').reduce((bytes, { payload }) => bytes + payload.length, 0);
    await eventually('its head is there', async () => ofType(frames, 'headers').length === 1);
    expect(taken()).toBe(0);
    for (let at = 0; at < 300; at += 1) socket.write(http2Frame('window', { payload: uint32(1) }));
    await eventually('all is taken', async () => taken() === 300);
    await eventually('it is over', async () => server.server.inFlight() === 0);
  });

  test.each([0, 1, 1_000])(
    'of which %d bytes are taken and no more is given up, others are not',
    async (window) => {
      const server = await start(
        always(({ path }) => textAnswer(path === '/large' ? 'x'.repeat(1_000_000) : '')),
        { stallMsMax: 50 },
      );
      const socket = await open(server);
      const frames = framesOf(socket);
      const settings = Buffer.concat([Buffer.from([0, 4]), uint32(window)]);
      socket.write(http2Frame('settings', { stream: 0, payload: settings }));
      socket.write(Buffer.concat(each(20, (at) => get(at, '/large'))));
      await eventually('they are reset', async () => ofType(frames, 'reset').length === 20);
      socket.write(get(20));
      await eventually('another is answered', async () =>
        ofType(frames, 'headers').some(({ stream }) => stream === 41),
      );
      expect(ofType(frames, 'goaway')).toEqual([]);
      await eventually('nothing is left', async () => server.server.inFlight() === 0);
    },
  );
});
