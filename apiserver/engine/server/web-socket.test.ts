import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { badRequest } from '../../../shared/errors/status-error';
import type { Answer, Exchange } from '../request/exchange';
import { SlowReaderError } from '../request/slow-reader-error';
import type { TestServer } from './testing/client';
import { always, deferred, startServer } from './testing/client';
import { LARGE_BYTES, readSteadily } from './testing/steady-reader';
import { FRAME_PART_BYTES as PART_BYTES } from './write-in-parts';

let running: TestServer | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function* pieces(...texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) {
    yield Buffer.from(text, 'latin1');
    await new Promise(setImmediate);
  }
}

async function open(
  answer: (exchange: Exchange) => Answer,
  options: { readonly protocols?: readonly string[]; readonly stallMsMax?: number } = {},
): Promise<WebSocket> {
  const { protocols = [], ...settings } = options;
  running = await startServer(always(answer), settings);
  return new WebSocket(`wss://127.0.0.1:${running.port}/watched`, [...protocols], {
    rejectUnauthorized: false,
  });
}

function frames(body: AsyncIterable<Buffer>, messages: Answer['messages'] = 'lines'): Answer {
  return { code: 200, headers: {}, body, ...(messages === undefined ? {} : { messages }) };
}

async function collected(socket: WebSocket): Promise<{ texts: string[]; binary: boolean[]; code: number }> {
  const texts: string[] = [];
  const binary: boolean[] = [];
  socket.on('message', (data: Buffer, isBinary) => {
    texts.push(data.toString('latin1'));
    binary.push(isBinary);
  });
  const [code] = (await once(socket, 'close')) as [number];
  return { texts, binary, code };
}

test('every line of a stream is one text message, and the end of the stream a normal close', async () => {
  const socket = await open(() => frames(pieces('{"a":1}\n{"b":2}\n', '{"c":3}\n')));
  expect(await collected(socket)).toEqual({
    texts: ['{"a":1}\n', '{"b":2}\n', '{"c":3}\n'],
    binary: [false, false, false],
    code: 1000,
  });
  expect(running?.server.inFlight()).toBe(0);
});

test('frames in memory that is only lent are sent before it is used again', async () => {
  const ROUNDS = 20;
  const sizes = [70_000, 0, 5, 2 * PART_BYTES, PART_BYTES - 1, 90_000];
  async function* lent(): AsyncGenerator<Buffer> {
    const memory = Buffer.alloc(8 * PART_BYTES);
    for (let round = 0; round < ROUNDS; round += 1) {
      const lines = sizes.map((size) => `${String(round % 10).repeat(size)}\n`);
      yield memory.subarray(0, memory.write(lines.join('')));
      memory.fill('!');
      await Promise.resolve();
    }
  }
  const socket = await open(() => frames(lent()));
  const { texts } = await collected(socket);
  const expected = Array.from({ length: ROUNDS }, (_, round) =>
    sizes.map((size) => `${String(round % 10).repeat(size)}\n`),
  ).flat();
  expect(texts.length).toBe(expected.length);
  expect(texts.every((text, at) => text === expected[at])).toBe(true);
});

test('every length-prefixed frame is one binary message without its length', async () => {
  const socket = await open(() => frames(pieces('\0\0\0\x02ab\0\0\0\0\0\0\0\x01c'), 'length-prefixed'));
  expect(await collected(socket)).toMatchObject({ texts: ['ab', '', 'c'], binary: [true, true, true] });
});

test('the first subprotocol that carries no token is agreed on', async () => {
  const protocols = ['base64url.bearer.authorization.k8s.io.dG9rZW4', 'frames.v1', 'frames.v2'];
  const socket = await open(() => frames(pieces('{}\n')), { protocols });
  await once(socket, 'open');
  expect(socket.protocol).toBe('frames.v1');
  await collected(socket);
});

test('a subprotocol that carries a token does not come back, even if it is the only one', async () => {
  const protocols = ['base64url.bearer.authorization.orch.dG9rZW4'];
  const socket = await open(() => frames(pieces('{}\n')), { protocols });
  socket.on('error', () => undefined);
  const [response] = (await once(socket, 'upgrade')) as [IncomingMessage];
  expect(response.statusCode).toBe(101);
  expect(response.headers['sec-websocket-protocol']).toBeUndefined();
});

test('an answer that is no stream of messages is an ordinary one', async () => {
  const socket = await open(() => {
    throw badRequest('not here');
  });
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
  expect(response.statusCode).toBe(400);
  // A request in flight would delay the close of the server.
  await running?.server.close({ delayMs: 0, graceMs: 60_000 });
  expect(running?.server.inFlight()).toBe(0);
});

test('a client that leaves ends the iteration and aborts the exchange', async () => {
  const returned = deferred();
  const aborted = deferred<unknown>();
  async function* endless(): AsyncGenerator<Buffer> {
    try {
      yield Buffer.from('{}\n');
      await aborted.promise;
    } finally {
      returned.resolve();
    }
  }
  let headers: object | undefined;
  const socket = await open((exchange) => {
    exchange.signal.addEventListener('abort', () => {
      ({ headers } = exchange);
      aborted.resolve(exchange.signal.reason);
    });
    return frames(endless());
  });
  await once(socket, 'message');
  socket.close();
  expect(await aborted.promise).toBeInstanceOf(Error);
  await returned.promise;
  // Its token, too, was not kept while it was open.
  expect(headers).toEqual({});
});

test('a client that stalls too long is disconnected, and its exchange is aborted', async () => {
  const aborted = deferred<unknown>();
  async function* flood(): AsyncGenerator<Buffer> {
    for (;;) yield Promise.resolve(Buffer.from(`${'x'.repeat(1_000_000)}\n`));
  }
  const socket = await open(
    ({ signal }) => {
      signal.addEventListener('abort', () => {
        aborted.resolve(signal.reason);
      });
      return frames(flood());
    },
    { stallMsMax: 50 },
  );
  await once(socket, 'open');
  socket.pause();
  expect(await aborted.promise).toBeInstanceOf(SlowReaderError);
  socket.terminate();
});

test.each([
  ['one large message', 1],
  ['many small messages at once', LARGE_BYTES / 4_096],
])('a client that is slow but steady gets all of %s', async (_, count) => {
  const stallMsMax = 1_000;
  const line = `${'x'.repeat(LARGE_BYTES / count - 1)}\n`;
  running = await startServer(
    always(() => frames(pieces(line.repeat(count)))),
    { stallMsMax },
  );
  const request = [
    'GET /watched HTTP/1.1',
    'Host: a',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    '\r\n',
  ].join('\r\n');
  const received = await readSteadily(await running.connect(), request, stallMsMax);
  expect(received).toBeGreaterThanOrEqual(LARGE_BYTES);
});

test('a client that takes nothing is cut at once when the exchange is given up', async () => {
  const begun = deferred<Exchange>();
  const returned = deferred();
  const line = Buffer.from(`${'x'.repeat(1_000_000)}\n`);
  async function* flood(exchange: Exchange): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        yield line;
        begun.resolve(exchange);
      }
    } finally {
      returned.resolve();
    }
  }
  const socket = await open((exchange) => frames(flood(exchange)));
  await once(socket, 'open');
  socket.pause();
  const exchange = await begun.promise;
  exchange.abort(new Error('too slow'));
  await returned.promise;
  const closed = once(socket, 'close');
  socket.resume();
  const [code] = (await closed) as [number];
  expect(code).toBe(1006);
});
