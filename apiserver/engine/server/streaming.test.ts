import { once } from 'node:events';
import { gunzipSync } from 'node:zlib';
import { StatusError } from '../../../shared/errors/status-error';
import { compressed } from '../encoding/compression';
import type { Exchange } from '../request/exchange';
import { LENT_BYTES_MIN } from '../request/exchange';
import { SlowReaderError } from '../request/slow-reader-error';
import type { TestServer } from './testing/client';
import { always, deferred, readToEnd, startServer } from './testing/client';
import { LARGE_BYTES, readSteadily } from './testing/steady-reader';

let running: TestServer | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function startStream(
  pieces: (exchange: Exchange) => AsyncIterable<Buffer>,
  settings: Parameters<typeof startServer>[1] = {},
): Promise<TestServer> {
  running = await startServer(
    always((exchange) => ({ code: 200, headers: {}, body: pieces(exchange) })),
    settings,
  );
  return running;
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

test('pieces arrive one by one', async () => {
  const { send } = await startStream(async function* count() {
    for (const digit of ['1', '', '2', '3']) {
      yield Buffer.from(digit);
      await new Promise(setImmediate);
    }
  });
  expect(await send({})).toMatchObject({
    code: 200,
    text: '123',
    headers: { 'transfer-encoding': 'chunked' },
  });
});

test('the headers are sent before the first piece exists', async () => {
  const go = deferred();
  const { connect } = await startStream(async function* late() {
    await go.promise;
    yield Buffer.from('late');
  });
  const socket = await connect();
  socket.write(GET);
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(head.toString()).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  expect(head.toString()).not.toContain('late');
  go.resolve();
  expect(await readToEnd(socket)).toContain('late');
});

test('a client that disconnects closes the iterator and aborts the signal, also while a piece is pending', async () => {
  const returned = deferred();
  const aborted = deferred<unknown>();
  const { connect } = await startStream((exchange) => {
    exchange.signal.addEventListener('abort', () => aborted.resolve(exchange.signal.reason));
    let asked = 0;
    return {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          asked += 1;
          if (asked === 1) return Promise.resolve({ done: false as const, value: Buffer.from('first') });
          return new Promise<never>(() => undefined);
        },
        return: async () => {
          returned.resolve();
          return Promise.resolve({ done: true as const, value: undefined });
        },
      }),
    };
  });
  const socket = await connect();
  socket.write(GET);
  await once(socket, 'data');
  socket.destroy();
  await returned.promise;
  expect(await aborted.promise).toMatchObject({ name: 'ClientGoneError' });
});

/** Yields without end and counts; reports when nothing more was requested for a few turns of the event loop. */
function endless(piece: Buffer) {
  const state = { pieces: 0, isClosed: deferred() };
  async function* pieces(): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        state.pieces += 1;
        yield piece;
      }
    } finally {
      state.isClosed.resolve();
      await Promise.resolve();
    }
  }
  return { state, pieces };
}

async function untilQuiet(count: () => number): Promise<number> {
  for (let before = -1; before !== count();) {
    before = count();
    for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
  }
  return count();
}

test('a slow reader causes backpressure, and reading resumes the iterator', async () => {
  const { state, pieces } = endless(Buffer.alloc(65_536));
  const { connect } = await startStream(pieces);
  const socket = await connect();
  socket.pause();
  socket.write(GET);
  const held = await untilQuiet(() => state.pieces);
  expect(held).toBeGreaterThan(0);
  expect(held).toBeLessThan(1_000);
  socket.resume();
  while (state.pieces < held + 100) await once(socket, 'data');
  socket.destroy();
  await state.isClosed.promise;
});

test('a reader that stalls too long is disconnected, and its exchange is aborted', async () => {
  const { state, pieces } = endless(Buffer.alloc(65_536));
  let reason: unknown;
  const { connect } = await startStream(
    ({ signal }) => {
      signal.addEventListener('abort', () => {
        ({ reason } = signal);
      });
      return pieces();
    },
    { stallMsMax: 50 },
  );
  const socket = await connect();
  socket.pause();
  socket.write(GET);
  await state.isClosed.promise;
  expect(state.pieces).toBeLessThan(1_000);
  expect(reason).toBeInstanceOf(SlowReaderError);
});

async function* one(piece: Buffer): AsyncGenerator<Buffer> {
  yield Promise.resolve(piece);
}

test('a slow but steady reader gets all of a large piece, although it takes longer than the stall limit', async () => {
  const stallMsMax = 1_000;
  const { connect } = await startStream(() => one(Buffer.alloc(LARGE_BYTES)), { stallMsMax });
  expect(await readSteadily(await connect(), GET, stallMsMax)).toBeGreaterThanOrEqual(LARGE_BYTES);
});

test('a reader that stalls in the middle of a large piece is disconnected', async () => {
  const over = deferred<unknown>();
  const { connect } = await startStream(
    ({ signal }) => {
      signal.addEventListener('abort', () => over.resolve(signal.reason));
      return one(Buffer.alloc(LARGE_BYTES));
    },
    { stallMsMax: 50 },
  );
  const socket = await connect();
  socket.once('data', () => socket.pause());
  socket.write(GET);
  expect(await over.promise).toBeInstanceOf(SlowReaderError);
});

test('an aborted exchange cuts a stream that waits for its reader', async () => {
  const { state, pieces } = endless(Buffer.alloc(65_536));
  let giveUp: Exchange['abort'] = () => undefined;
  const { connect } = await startStream((exchange) => {
    giveUp = exchange.abort.bind(exchange);
    return pieces();
  });
  const socket = await connect();
  socket.pause();
  socket.write(GET);
  await untilQuiet(() => state.pieces);
  giveUp(new StatusError('Timeout', 'over'));
  await state.isClosed.promise;
  expect(state.pieces).toBeLessThan(1_000);
});

/** Pieces of all sizes in one buffer, each overwritten as soon as the next one is asked for, as those who lend memory may do. */
async function* lent(count: number): AsyncGenerator<Buffer> {
  const memory = Buffer.alloc(300_000);
  for (let at = 0; at < count; at += 1) {
    const piece = memory.subarray(0, LENT_BYTES_MIN + ((at * 61_441) % 230_000)).fill(48 + (at % 10));
    yield Promise.resolve(piece);
    memory.fill('!');
  }
}

async function joined(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const copies: Buffer[] = [];
  for await (const piece of pieces) copies.push(Buffer.from(piece));
  return Buffer.concat(copies);
}

test('lent memory is flushed before it is reused, also for a slow client', async () => {
  const { connect } = await startStream(() => lent(60));
  const expected = await joined(lent(60));
  const socket = await connect();
  socket.write('GET / HTTP/1.0\r\nHost: a\r\n\r\n');
  const received: Buffer[] = [];
  let chunks = 0;
  for await (const chunk of socket) {
    received.push(chunk as Buffer);
    chunks += 1;
    if (chunks % 20 === 0) for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  }
  const bytes = Buffer.concat(received);
  const body = bytes.subarray(bytes.indexOf('\r\n\r\n') + 4);
  expect(body.length).toBe(expected.length);
  expect(body.equals(expected)).toBe(true);
});

test('lent memory is consumed before it is reused when the body is compressed', async () => {
  const headers = { 'accept-encoding': 'gzip' };
  running = await startServer(async (exchange) => {
    exchange.answer = await compressed({ headers }, { code: 200, headers: {}, body: lent(60) });
  });
  const socket = await running.connect();
  socket.write('GET / HTTP/1.0\r\nHost: a\r\n\r\n');
  const bytes = Buffer.from(await readToEnd(socket), 'latin1');
  const body = gunzipSync(bytes.subarray(bytes.indexOf('\r\n\r\n') + 4));
  expect(body.equals(await joined(lent(60)))).toBe(true);
});

test('headers that cannot be written cut the connection and close the stream', async () => {
  const { state, pieces } = endless(Buffer.from('x'));
  async function* slow(): AsyncGenerator<Buffer> {
    await untilQuiet(() => 0);
    yield* pieces();
  }
  running = await startServer(always(() => ({ code: 200, headers: { 'X-Bad': 'a\nb' }, body: slow() })));
  await expect(running.send({})).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(state.pieces).toBe(0);
});

test.each([LENT_BYTES_MIN, 10])(
  'an iterator that throws after %i bytes cuts its connection and no other',
  async (bytes) => {
    const { connect } = await startStream(() => {
      let asked = 0;
      return {
        [Symbol.asyncIterator]: () => ({
          // eslint-disable-next-line typescript/promise-function-async -- it is to throw, not to reject
          next: () => {
            asked += 1;
            if (asked > 1) throw new Error('no memory');
            return Promise.resolve({ done: false as const, value: Buffer.alloc(bytes, '.') });
          },
        }),
      };
    });
    const socket = await connect();
    socket.write(GET);
    expect(await readToEnd(socket)).not.toMatch(/0\r\n\r\n$/);
  },
);

/** A watch of which nothing comes until the exchange is given up. */
function silent(exchange: Exchange): AsyncIterable<Buffer> {
  return {
    [Symbol.asyncIterator]: () => {
      let close: (step: IteratorReturnResult<undefined>) => void = () => undefined;
      const closed = new Promise<IteratorReturnResult<undefined>>((resolve) => {
        close = resolve;
      });
      const over = (): void => {
        close({ done: true, value: undefined });
      };
      exchange.signal.addEventListener('abort', over);
      return {
        next: async () => closed,
        return: async () => {
          over();
          return closed;
        },
      };
    },
  };
}

test('an open watch holds no headers of its request, and is still aborted', async () => {
  let exchange: Exchange | undefined;
  running = await startServer(async (given) => {
    exchange = given;
    await Promise.resolve();
    given.answer = { code: 200, headers: {}, body: silent(given), messages: 'lines' };
  });
  const socket = await running.connect();
  socket.write(
    'GET /pods?watch=1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\nConnection: close\r\n\r\n',
  );
  await once(socket, 'data');
  expect(exchange?.headers).toEqual({});
  expect(exchange?.rawHeaders).toEqual([]);
  expect(exchange?.query.get('watch')).toBe('1');
  const rest = readToEnd(socket);
  exchange?.abort(new StatusError('ServiceUnavailable', 'leaving'));
  expect(await rest).toBe('0\r\n\r\n');
});

test('whenOver calls back once when the answer is sent or the client has disconnected, and at once afterwards', async () => {
  const calls: string[] = [];
  let over = deferred();
  running = await startServer(async (exchange) => {
    exchange.whenOver(() => {
      calls.push(exchange.path);
      exchange.whenOver(() => calls.push('late'));
      over.resolve();
    });
    await Promise.resolve();
    const body = exchange.path === '/left' ? silent(exchange) : Buffer.from('all');
    exchange.answer = { code: 200, headers: {}, body };
  });
  await running.send({ path: '/sent' });
  await over.promise;
  over = deferred();
  const socket = await running.connect();
  socket.write('GET /left HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');
  expect(calls).toEqual(['/sent', 'late']);
  socket.destroy();
  await over.promise;
  expect(calls).toEqual(['/sent', 'late', '/left', 'late']);
});

test('a pipelined answer ends once, and its connection stays open', async () => {
  const ended: string[] = [];
  running = await startServer(async (exchange) => {
    exchange.whenOver(() => ended.push(exchange.path));
    await new Promise(setImmediate);
    exchange.answer = { code: 200, headers: {}, body: Buffer.from(exchange.path) };
  });
  const socket = await running.connect();
  socket.write(
    ['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join('') +
      'GET /4 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  );
  const text = await readToEnd(socket);
  expect([...text.matchAll(/\r\n\r\n(\/\d)/g)].map(([, body]) => body)).toEqual(['/1', '/2', '/3', '/4']);
  while (running.server.inFlight() > 0) await new Promise(setImmediate);
  expect(ended).toEqual(['/1', '/2', '/3', '/4']);
});
