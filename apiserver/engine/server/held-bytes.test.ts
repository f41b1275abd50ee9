import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { NAMESPACE, SERVICE_ACCOUNT, USER, USER_GROUP } from '../../../shared/names';
import type { Exchange, UserInfo } from '../request/exchange';
import { eventually } from '../../../shared/testing/eventually';
import { NO_USER } from '../request/initial-values';
import { parseRequestInfo } from '../request/request-info';
import { SlowReaderError } from '../request/slow-reader-error';
import { newConnectionCounts } from './connection-counts';
import type { HeldPart, RequestMemory, UnreadPart } from './held-bytes';
import { createMemoryLimitStage, createRequestMemory, HeldBytes } from './held-bytes';
import { ANSWER_PIECE_BYTES, HELD_BYTES_MIN } from './limits';
import type { Pipeline } from './request-handler';
import type { TestServer } from './testing/client';
import { deferred, readToEnd, startServer, textAnswer } from './testing/client';

let running: TestServer | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

const MB = 1_024 * 1_024;
const ADMIN: UserInfo = { ...NO_USER, name: 'admin', groups: [USER_GROUP.masters] };

function accountOf(namespace: string, name: string): string {
  return `${SERVICE_ACCOUNT.userPrefix}${namespace}:${name}`;
}

function userNamed(name: string): UserInfo {
  return name === ADMIN.name ? ADMIN : { ...NO_USER, name };
}

/** The user is the first part of the path. */
function userOf({ path }: Exchange): UserInfo {
  return userNamed(path.split('/')[1] ?? '');
}

function memoryOf(perUserMax: number, totalMax: number): RequestMemory {
  const limits = { perUserMax, totalMax };
  return { bodies: new HeldBytes(limits), answers: new HeldBytes(limits) };
}

async function start(pipeline: Pipeline, settings: Parameters<typeof startServer>[1]): Promise<TestServer> {
  running = await startServer(async (exchange) => {
    exchange.user = userOf(exchange);
    await pipeline(exchange);
  }, settings);
  return running;
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
}

test('a small process has small limits that always fit one body of the largest size', () => {
  const { bodies, answers } = createRequestMemory(128 * MB);
  expect([bodies.max, answers.max]).toEqual([
    { perUserMax: 4 * MB, totalMax: 16 * MB },
    { perUserMax: 16 * MB, totalMax: 64 * MB },
  ]);
  expect(createRequestMemory(32 * MB).bodies.max).toEqual({ perUserMax: 3 * MB, totalMax: 4 * MB });
  expect(createRequestMemory().answers.max).toEqual({ perUserMax: 256 * MB, totalMax: 1_024 * MB });
});

describe('held bytes', () => {
  test('have a limit per user and one for all users', () => {
    const held = new HeldBytes({ perUserMax: 10, totalMax: 24 });
    const [a, b, c] = ['a', 'b', 'c'].map(userNamed) as [UserInfo, UserInfo, UserInfo];
    held.add(a, 10);
    expect([held.hasRoom(a, 1), held.hasRoom(b, 10)]).toEqual([false, true]);
    held.add(b, 10);
    // The third has room up to its fair share of 8, although the total is reached at 4.
    expect([held.hasRoom(c, 4), held.hasRoom(c, 8), held.hasRoom(c, 9)]).toEqual([true, true, false]);
    expect(held.refused).toBe(2);
    held.add(a, -10);
    expect([held.hasRoom(a, 10), held.hasRoom(c, 9), held.total]).toEqual([true, true, 10]);
  });

  test('exceed the total by a quarter at most, however many holders there are', () => {
    const held = new HeldBytes({ perUserMax: 25, totalMax: 100 });
    for (let at = 0; at < 100; at += 1) {
      const user = userNamed(`u${String(at)}`);
      while (held.hasRoom(user, 1)) held.add(user, 1);
    }
    expect(held.total).toBe(125);
  });

  test('estimate Retry-After from the bytes to release and the recent release rate', () => {
    let now = 0;
    const held = new HeldBytes({ perUserMax: 100, totalMax: 1_000 }, { now: () => now, random: () => 0 });
    const [a, b] = ['a', 'b'].map(userNamed) as [UserInfo, UserInfo];
    const secondsFor = (user: UserInfo, bytes: number): unknown =>
      held.refusal(user, bytes, 'no').status.details?.retryAfterSeconds;
    held.add(a, 100);
    now = 5_000;
    // Nothing has gone for five seconds.
    expect([secondsFor(a, 60), secondsFor(b, 60)]).toEqual([5, 1]);
    held.add(a, -10);
    // Two bytes a second, of 50 that must go.
    expect(secondsFor(a, 60)).toBe(25);
    // It goes faster, and older times count less.
    now = 11_000;
    held.add(a, -40);
    now = 12_000;
    expect([secondsFor(a, 60), secondsFor(a, 100)]).toEqual([3, 12]);
    held.add(a, -50);
    held.add(b, 990);
    expect(secondsFor(a, 60)).toBe(4);
  });

  test('never limit superusers and the control plane', () => {
    const held = new HeldBytes({ perUserMax: 10, totalMax: 10 });
    for (const name of ['a', USER.controllerManager, accountOf(NAMESPACE.system, 'garbage-collector')])
      held.add({ name }, 10);
    expect(
      [ADMIN.name, USER.controllerManager, accountOf(NAMESPACE.system, 'namespace-controller'), 'a'].map(
        (name) => held.hasRoom(userNamed(name), 100),
      ),
    ).toEqual([true, true, true, false]);
  });

  test('count all service accounts of a namespace as one holder', () => {
    const held = new HeldBytes({ perUserMax: 10, totalMax: 100 });
    held.add({ name: accountOf('tenant', 'one') }, 10);
    expect(
      [accountOf('tenant', 'two'), accountOf('tenant2', 'one'), 'tenant'].map((name) =>
        held.hasRoom(userNamed(name), 5),
      ),
    ).toEqual([false, true, true]);
  });
});

describe('unread parts', () => {
  const FRAME = Buffer.alloc(100);

  /** Holds a part for a user; evictions are recorded. */
  function holding(held: HeldBytes): {
    readonly hold: (user: string, name: string, part: Partial<UnreadPart>) => HeldPart;
    readonly evicted: string[];
  } {
    const evicted: string[] = [];
    return {
      evicted,
      hold: (user, name, part) =>
        held.hold(userNamed(user), {
          bytes: 1,
          isWatch: true,
          evict: () => evicted.push(name),
          ...part,
        }),
    };
  }

  test('of one frame count once in all and once for each user, besides the copy of each connection', () => {
    const held = new HeldBytes({ perUserMax: 1_000, totalMax: 1_000 });
    const { hold } = holding(held);
    const parts = ['a', 'a', 'b', 'a'].map((user) => hold(user, '', { shared: FRAME, bytes: 5 }));
    expect(held.total).toBe(120);
    expect([held.hasRoom(userNamed('a'), 880), held.hasRoom(userNamed('b'), 895)]).toEqual([true, false]);
    for (const part of parts.slice(0, 2)) held.release(part);
    expect(held.total).toBe(110);
    for (const part of parts) held.release(part);
    expect(held.total).toBe(0);
  });

  test('without bytes release nothing of their user', () => {
    const held = new HeldBytes({ perUserMax: 10, totalMax: 10 });
    const empty = holding(held).hold('a', '', { bytes: 0 });
    held.add(userNamed('a'), 5);
    held.release(empty);
    expect(held.hasRoom(userNamed('a'), 6)).toBe(false);
    held.add(userNamed('a'), -5);
    expect(held.hasRoom(userNamed('a'), 10)).toBe(true);
  });

  test('over the limit of their user are evicted, those without progress for the longest time first', () => {
    const held = new HeldBytes({ perUserMax: 30, totalMax: 1_000 });
    const { hold, evicted } = holding(held);
    hold('a', 'list', { bytes: 10, isWatch: false });
    const first = hold('a', 'first', { bytes: 10 });
    hold('a', 'second', { bytes: 10 });
    hold('b', 'other', { bytes: 10 });
    held.progressed(first);
    hold('a', 'third', { bytes: 10 });
    expect([evicted, held.total, held.evicted]).toEqual([['second'], 40, 1]);
    // One that does not fit at all is evicted itself.
    expect(hold('c', 'too large', { bytes: 31 }).isReleased).toBe(true);
  });

  test('of the largest user give way when all together are too many, watches first', () => {
    const held = new HeldBytes({ perUserMax: 60, totalMax: 100 });
    const { hold, evicted } = holding(held);
    hold('a', 'a list', { bytes: 20, isWatch: false });
    hold('a', 'a watch', { bytes: 20 });
    hold('b', 'b watch', { bytes: 20 });
    hold('admin', 'admin watch', { bytes: 40 });
    // Users hold 40, 20 and 40 of 100; the share of a fourth is 25.
    expect(held.hasRoom(userNamed('c'), 25)).toBe(true);
    expect([evicted, held.total]).toEqual([['a watch'], 80]);
    expect(held.hasRoom(userNamed('c'), 26)).toBe(false);
    hold('b', 'b second', { bytes: 20 });
    hold('c', 'c watch', { bytes: 20 });
    expect(evicted).toEqual(['a watch', 'b watch']);
  });
});

describe('request bodies', () => {
  const reading: Pipeline = async (exchange) => {
    exchange.answer = textAnswer(String((await exchange.readBody()).length));
  };

  /** Sends so much of a body that is announced as longer, or in chunks. */
  async function unfinished(
    { connect }: TestServer,
    path: string,
    bytes: number,
    head: string,
  ): Promise<TLSSocket> {
    const socket = await connect();
    socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n`);
    socket.write(head.startsWith('Content-Length') ? '' : `${bytes.toString(16)}\r\n`);
    socket.write(Buffer.alloc(bytes, '.'));
    return socket;
  }

  test.each([`Content-Length: ${String(MB)}`, 'Transfer-Encoding: chunked'])(
    'that are not finished (%s) take no more memory than one user may have, however many connections they come on',
    async (head) => {
      const memory = memoryOf(2 * MB, 8 * MB);
      const server = await start(reading, { memory });
      const codes: string[] = [];
      const sockets = await Promise.all(
        Array.from({ length: 12 }, async () => {
          const socket = await unfinished(server, '/a', MB - 1, head);
          socket.on('data', (chunk: Buffer) => codes.push(chunk.toString('latin1').slice(9, 12)));
          return socket;
        }),
      );
      while (codes.length < 10) {
        expect(memory.bodies.total).toBeLessThanOrEqual(2 * MB);
        await turns(1);
      }
      expect(new Set(codes)).toEqual(new Set(['429']));
      // Somebody else has room, an administrator too, and the user again once the first bodies are gone.
      expect(await server.send({ method: 'POST', path: '/b', body: Buffer.alloc(MB) })).toMatchObject({
        code: 200,
      });
      expect(await server.send({ method: 'POST', path: '/admin', body: Buffer.alloc(MB) })).toMatchObject({
        code: 200,
      });
      for (const socket of sockets) socket.destroy();
      while (memory.bodies.total > 0) await turns(1);
      expect(await server.send({ method: 'POST', path: '/a', body: Buffer.alloc(MB) })).toMatchObject({
        code: 200,
      });
      while (memory.bodies.total > 0) await turns(1);
    },
  );

  test('over the limit are refused with Retry-After, before a client with Expect: 100-continue sends them', async () => {
    const memory = memoryOf(MB, MB);
    memory.bodies.add(userNamed('a'), MB);
    const { send } = await start(reading, { memory });
    const reply = await send({
      method: 'POST',
      path: '/a',
      headers: { Expect: '100-continue', 'Content-Length': HELD_BYTES_MIN },
    });
    expect(reply).toMatchObject({
      code: 429,
      headers: { 'retry-after': expect.stringMatching(/^[1-9]\d?$/) as unknown, connection: 'close' },
    });
    expect(await send({ method: 'POST', path: '/a', body: 'small' })).toMatchObject({ code: 200, text: '5' });
  });

  test('count until their request ends', async () => {
    const memory = memoryOf(MB, MB);
    const read = deferred();
    const go = deferred();
    const { send } = await start(
      async (exchange) => {
        await exchange.readBody();
        read.resolve();
        await go.promise;
        exchange.answer = textAnswer('');
      },
      { memory },
    );
    const reply = send({ method: 'POST', path: '/a', body: Buffer.alloc(MB / 2) });
    await read.promise;
    expect(memory.bodies.total).toBe(MB / 2);
    go.resolve();
    await reply;
    while (memory.bodies.total > 0) await turns(1);
  });
});

describe('unread answers', () => {
  const BIG = Buffer.alloc(16 * MB, '.');

  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) yield Promise.resolve(BIG.subarray(0, MB));
  }

  /** Asks, and reads nothing. */
  async function deaf({ connect }: TestServer, path: string, times = 1): Promise<TLSSocket> {
    const socket = await connect();
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(times));
    return socket;
  }

  test.each([
    ['whole', BIG],
    ['streamed', undefined],
  ])('(%s) make further requests of their user 429, and no others', async (_how, body) => {
    const memory = memoryOf(20 * MB, 80 * MB);
    const limit = createMemoryLimitStage(memory);
    let begun = 0;
    const server = await start(
      async (exchange) =>
        limit(exchange, async () => {
          begun += 1;
          await Promise.resolve();
          const answered = exchange.path.endsWith('/big') ? (body ?? endless()) : Buffer.from('small');
          exchange.answer = { code: 200, headers: {}, body: answered };
        }),
      { memory },
    );
    const sockets: TLSSocket[] = [];
    while (memory.answers.total <= 20 * MB) {
      sockets.push(await deaf(server, '/a/big'));
      await turns(20);
    }
    const before = begun;
    expect(await server.send({ path: '/a/small' })).toMatchObject({
      code: 429,
      headers: { 'retry-after': expect.stringMatching(/^[1-9]\d?$/) as unknown },
    });
    expect(begun).toBe(before);
    expect(await server.send({ path: '/b/small' })).toMatchObject({ code: 200 });
    expect(await server.send({ path: '/admin/small' })).toMatchObject({ code: 200 });
    for (const socket of sockets) socket.destroy();
    while (memory.answers.total > 0) await turns(1);
    expect(await server.send({ path: '/a/small' })).toMatchObject({ code: 200 });
  });

  test('of watches that share a large frame stop no other user, no lease and no health check', async () => {
    const memory = memoryOf(20 * MB, 40 * MB);
    const limit = createMemoryLimitStage(memory);
    async function* oneFrame(): AsyncGenerator<Buffer> {
      yield BIG;
      await new Promise(() => undefined);
    }
    const watches: string[] = [];
    const server = await start(
      async (exchange) => {
        exchange.info = parseRequestInfo('GET', exchange.path.replace(/^\/[^/]*/u, ''), exchange.query);
        await limit(exchange, async () => {
          await Promise.resolve();
          const isWatch = exchange.path.endsWith('/watch');
          if (isWatch) watches.push(exchange.id);
          exchange.answer = isWatch
            ? { code: 200, headers: {}, body: oneFrame(), messages: 'lines' }
            : textAnswer('small');
        });
      },
      { memory },
    );
    const sockets: TLSSocket[] = [];
    while (sockets.length < 8) sockets.push(await deaf(server, '/a/watch'));
    await eventually('the watches have begun', async () => watches.length === 8);
    await eventually('the watches wait', async () => memory.answers.total > 16 * MB);
    expect(memory.answers.total).toBeLessThan(20 * MB);
    expect(await server.send({ path: '/b/small' })).toMatchObject({ code: 200 });
    expect(await server.send({ path: '/a/small' })).toMatchObject({ code: 200 });
    memory.answers.add(userNamed('a'), 40 * MB);
    expect(await server.send({ path: '/a/small' })).toMatchObject({ code: 429 });
    const lease = '/apis/coordination.k8s.io/v1/namespaces/x/leases/leader';
    for (const path of [`/a${lease}`, '/a/livez', '/a/readyz/etcd', '/b/small'])
      expect(await server.send({ path })).toMatchObject({ code: 200 });
    memory.answers.add(userNamed('a'), -40 * MB);
    for (const socket of sockets) socket.destroy();
    while (memory.answers.total > 0) await turns(1);
  });

  test.each([
    ['long', BIG.length, 1],
    ['short, one after another', ANSWER_PIECE_BYTES, 60],
  ])('in time (%s) are aborted, and so is their exchange', async (_how, bytes, times) => {
    const reasons: unknown[] = [];
    const counts = newConnectionCounts();
    const server = await start(
      async (exchange) => {
        exchange.signal.addEventListener('abort', () => reasons.push(exchange.signal.reason));
        await Promise.resolve();
        exchange.answer = { code: 200, headers: {}, body: BIG.subarray(0, bytes) };
      },
      { stallMsMax: 50, counts },
    );
    const socket = await deaf(server, '/a', times);
    while (counts.slowReaders === 0) await turns(1);
    while (server.server.inFlight() > 0) await turns(1);
    expect(reasons).toEqual([expect.any(SlowReaderError)]);
    socket.resume();
    await once(socket, 'close');
  });

  test('are complete for a client that reads slowly', async () => {
    const { connect } = await start(async (exchange) => {
      await Promise.resolve();
      exchange.answer = { code: 200, headers: {}, body: BIG };
    }, {});
    const socket = await connect();
    socket.write('GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const text = await readToEnd(socket);
    expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n[^.]*Content-Length: 16777216\r\n/);
    expect(text.length - text.indexOf('\r\n\r\n') - 4).toBe(BIG.length);
  });
});
