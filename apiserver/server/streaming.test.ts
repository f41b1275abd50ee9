import { once } from 'node:events';
import { StatusError } from '../../shared/errors/status-error';
import type { Exchange } from '../exchange/exchange';
import type { TestServer } from './testing/client';
import { always, deferred, readToEnd, startServer } from './testing/client';

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

test('pieces arrive one after the other', async () => {
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

test('the head goes out before the first piece is there', async () => {
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

test('a client that leaves closes the iterator and aborts the signal, also while a piece is awaited', async () => {
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

/** Yields without end and counts; tells when nobody has asked for more for a few turns of the event loop. */
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

test('a reader that is slow holds the iterator back, and gets going again', async () => {
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

test('a reader that takes nothing for too long is cut off', async () => {
  const { state, pieces } = endless(Buffer.alloc(65_536));
  const { connect } = await startStream(pieces, { stallMsMax: 50 });
  const socket = await connect();
  socket.pause();
  socket.write(GET);
  await state.isClosed.promise;
  expect(state.pieces).toBeLessThan(1_000);
});

test('a signal that aborts cuts a stream that waits for its reader', async () => {
  const { state, pieces } = endless(Buffer.alloc(65_536));
  const deadline = new AbortController();
  const { connect } = await startStream((exchange) => {
    exchange.signal = deadline.signal;
    return pieces();
  });
  const socket = await connect();
  socket.pause();
  socket.write(GET);
  await untilQuiet(() => state.pieces);
  deadline.abort(new StatusError('Timeout', 'over'));
  await state.isClosed.promise;
  expect(state.pieces).toBeLessThan(1_000);
});

test('a head that cannot be written cuts the connection and closes the stream', async () => {
  const { state, pieces } = endless(Buffer.from('x'));
  async function* slow(): AsyncGenerator<Buffer> {
    await untilQuiet(() => 0);
    yield* pieces();
  }
  running = await startServer(always(() => ({ code: 200, headers: { 'X-Bad': 'a\nb' }, body: slow() })));
  await expect(running.send({})).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(state.pieces).toBe(0);
});
