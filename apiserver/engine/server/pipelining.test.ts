import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { badRequest } from '../../../shared/errors/status-error';
import type { Exchange } from '../request/exchange';
import { newConnectionCounts } from './connection-counts';
import { PIPELINED_BYTES_MAX, PIPELINED_MAX } from './limits';
import type { Deferred, TestServer } from './testing/client';
import { always, deferred, readToEnd, startServer, textAnswer } from './testing/client';

let running: TestServer | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

const UPGRADE =
  'GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

function get(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;
}

/** The requests, in order, and the answers that wait for the test. */
interface Asked {
  readonly paths: string[];
  readonly answers: Map<string, Deferred<void>>;
  /** Resolves when the path has been asked for. */
  readonly begun: (path: string) => Promise<void>;
}

/** A server that answers each request with its path: at once, or when the test says so for paths that begin with `/held`. */
async function startAsked(settings: Parameters<typeof startServer>[1] = {}): Promise<TestServer & Asked> {
  const begun = new Map<string, Deferred<void>>();
  const begunOf = (path: string): Deferred<void> => {
    const known = begun.get(path) ?? deferred();
    begun.set(path, known);
    return known;
  };
  const asked: Asked = {
    paths: [],
    answers: new Map(),
    begun: async (path) => begunOf(path).promise,
  };
  running = await startServer(async (exchange) => {
    asked.paths.push(exchange.path);
    if (exchange.path.startsWith('/held')) {
      const answer = deferred();
      asked.answers.set(exchange.path, answer);
      begunOf(exchange.path).resolve();
      await answer.promise;
    } else begunOf(exchange.path).resolve();
    exchange.answer = textAnswer(exchange.path);
  }, settings);
  return { ...running, ...asked };
}

/** The bodies of the answers in a connection's bytes. */
function bodies(text: string): string[] {
  return [...text.matchAll(/\r\n\r\n(\/[a-z\d-]*)/gu)].map(([, body = '']) => body);
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
}

describe('pipelined requests', () => {
  test('are answered in order, each started only after the previous answer is sent', async () => {
    let underWay = 0;
    const together: number[] = [];
    running = await startServer(async (exchange) => {
      underWay += 1;
      together.push(underWay);
      await turns(3);
      exchange.answer = textAnswer(exchange.path);
      underWay -= 1;
    });
    const socket = await running.connect();
    const paths = Array.from({ length: PIPELINED_MAX }, (_each, at) => `/${String(at)}`);
    socket.write(paths.map((path) => get(path)).join('') + get('/last', 'Connection: close\r\n'));
    expect(bodies(await readToEnd(socket))).toEqual([...paths, '/last']);
    expect(new Set(together)).toEqual(new Set([1]));
  });

  test('a body is complete, even if the previous answer is still pending', async () => {
    const begun = deferred();
    running = await startServer(async (exchange) => {
      if (exchange.path === '/big') {
        begun.resolve();
        exchange.answer = { code: 200, headers: {}, body: Buffer.alloc(8_000_000, '.') };
        return;
      }
      const { length } = await exchange.readBody();
      exchange.answer = textAnswer(`/${String(length)}`);
    });
    const socket = await running.connect();
    socket.write(get('/big'));
    await begun.promise;
    await turns(10);
    const head = 'POST /take HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 300000\r\n\r\n';
    socket.write(head + 'x'.repeat(300_000));
    await turns(10);
    expect((await readToEnd(socket)).slice(-7)).toBe('/300000');
  });

  test('connections resume after each pause', async () => {
    const { connect } = (running = await startServer(async (exchange) => {
      const { length } = await exchange.readBody();
      exchange.answer = { code: 200, headers: { got: String(length) }, body: Buffer.alloc(400_000, '.') };
    }));
    const lengthsOf = (connection: number): readonly number[] =>
      Array.from({ length: 8 }, (_, index) => 20_000 * connection + 3_000 * index);
    const texts = Array.from({ length: 10 }, async (_, connection) => {
      const socket = await connect();
      const requests = lengthsOf(connection).map((length, index) => {
        const close = index === 7 ? 'Connection: close\r\n' : '';
        return `POST /take HTTP/1.1\r\nHost: a\r\n${close}Content-Length: ${String(length)}\r\n\r\n${'x'.repeat(length)}`;
      });
      const all = requests.join('');
      socket.write(all.slice(0, all.length / 2));
      await turns(2 * connection);
      socket.write(all.slice(all.length / 2));
      return readToEnd(socket);
    });
    for (const [connection, text] of (await Promise.all(texts)).entries()) {
      const got = [...text.matchAll(/^got: (\d+)/gimu)].map(([, length]) => Number(length));
      expect(got).toEqual(lengthsOf(connection));
    }
  });

  test('a client that reads nothing has one answer in memory at a time', async () => {
    const big = Buffer.alloc(8_000_000, '.');
    let begun = 0;
    const first = deferred();
    running = await startServer(
      always(() => {
        begun += 1;
        first.resolve();
        return { code: 200, headers: {}, body: big };
      }),
    );
    const socket = await running.connect();
    socket.pause();
    socket.write(get('/').repeat(20));
    await first.promise;
    await turns(500);
    expect(begun).toBe(1);
    expect(running.server.inFlight()).toBe(1);
    socket.destroy();
  });

  test('have their bodies, and get 100 Continue in their turn', async () => {
    running = await startServer(async (exchange) => {
      await turns(3);
      exchange.answer = textAnswer(`/${(await exchange.readBody()).toString()}`);
    });
    const socket = await running.connect();
    const post = (headers: string): string =>
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n${headers}\r\n`;
    socket.write(`${post('')}one${post('')}two${post('Expect: 100-continue\r\nConnection: close\r\n')}`);
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('100 Continue')) socket.write('six');
    });
    await once(socket, 'close');
    expect(bodies(text)).toEqual(['/one', '/two', '/six']);
    expect(text.indexOf('100 Continue')).toBeGreaterThan(text.indexOf('/two'));
  });

  test('are dropped with their connection, and only the started one is aborted', async () => {
    const left: string[] = [];
    const gone = deferred();
    const begun = deferred();
    running = await startServer(async ({ path, signal }) => {
      begun.resolve();
      await once(signal, 'abort');
      left.push(path);
      gone.resolve();
    });
    const socket = await running.connect();
    socket.write(get('/1') + get('/2') + get('/3'));
    await begun.promise;
    socket.destroy();
    await gone.promise;
    await turns(50);
    expect(left).toEqual(['/1']);
    expect(running.server.inFlight()).toBe(0);
  });

  test('wait for a stream too', async () => {
    const go = deferred();
    async function* slow(): AsyncGenerator<Buffer> {
      yield Buffer.from('/first-');
      await go.promise;
      yield Buffer.from('half');
    }
    const paths: string[] = [];
    running = await startServer(
      always(({ path }) => {
        paths.push(path);
        return path === '/stream' ? { code: 200, headers: {}, body: slow() } : textAnswer(path);
      }),
    );
    const socket = await running.connect();
    socket.write(get('/stream') + get('/next', 'Connection: close\r\n'));
    const [head] = (await once(socket, 'data')) as [Buffer];
    await turns(50);
    expect(paths).toEqual(['/stream']);
    go.resolve();
    expect(bodies(head.toString() + (await readToEnd(socket)))).toContain('/next');
  });

  test('one that Node answers itself blocks no other', async () => {
    const { connect, paths } = await startAsked();
    const socket = await connect();
    socket.write(get('/1') + get('/2', 'Expect: the-unexpected\r\n') + get('/3', 'Connection: close\r\n'));
    const text = await readToEnd(socket);
    expect([...text.matchAll(/HTTP\/1.1 (\d+)/gu)].map(([, code]) => code)).toEqual(['200', '417', '200']);
    expect(paths).toEqual(['/1', '/3']);
  });

  test('that are not started when the server closes are not answered', async () => {
    const { connect, paths, begun, answers, server } = await startAsked();
    const socket = await connect();
    const text = readToEnd(socket);
    socket.write(get('/held') + get('/next'));
    await begun('/held');
    const closed = server.close({ delayMs: 0, graceMs: 60_000 });
    answers.get('/held')?.resolve();
    expect(await text).toContain('Connection: close');
    await closed;
    expect(paths).toEqual(['/held']);
  });
});

describe('a flood of pipelined requests', () => {
  test('ends its connection with the current answer, which has Connection: close', async () => {
    const { connect, paths, begun, answers, server } = await startAsked();
    const socket = await connect();
    const text = readToEnd(socket);
    socket.write(get('/held') + get('/next').repeat(PIPELINED_MAX + 1));
    await begun('/held');
    await turns(50);
    answers.get('/held')?.resolve();
    expect(await text).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*Connection: close\r\n[^]*\/held$/u);
    expect(paths).toEqual(['/held']);
    expect(server.inFlight()).toBe(0);
  });

  test('is limited in bytes as well', async () => {
    const counts = newConnectionCounts();
    const { connect, paths, begun, answers } = await startAsked({ counts });
    const socket = await connect();
    const text = readToEnd(socket);
    const long = get('/next', `X: ${'x'.repeat(30_000)}\r\n`);
    socket.write(get('/held') + long.repeat(Math.ceil(PIPELINED_BYTES_MAX / 30_000)));
    await begun('/held');
    while (counts.pipelineFloods === 0) await turns(1);
    answers.get('/held')?.resolve();
    expect(bodies(await text)).toEqual(['/held']);
    expect(paths).toEqual(['/held']);
  });

  test('is not parsed any further', async () => {
    const made: string[] = [];
    const onRequest = (message: unknown): void => {
      made.push((message as { readonly request: { readonly url: string } }).request.url);
    };
    subscribe('http.server.request.start', onRequest);
    try {
      const { connect, paths, begun, answers, server } = await startAsked();
      const socket = await connect();
      const text = readToEnd(socket);
      socket.write(get('/held') + get('/next').repeat(5_000));
      await begun('/held');
      await turns(50);
      answers.get('/held')?.resolve();
      expect(bodies(await text)).toEqual(['/held']);
      expect(paths).toEqual(['/held']);
      expect(made).toHaveLength(1 + PIPELINED_MAX + 1);
      while (server.inFlight() > 0) await turns(1);
    } finally {
      unsubscribe('http.server.request.start', onRequest);
    }
  });

  test('after an answer that is pending or started is cut soon', async () => {
    const silence = {
      [Symbol.asyncIterator]: () => ({
        next: async () => new Promise<IteratorResult<Buffer>>(() => undefined),
      }),
    };
    running = await startServer(always(() => ({ code: 200, headers: {}, body: silence, messages: 'lines' })));
    const socket = await running.connect();
    const text = readToEnd(socket);
    socket.write(get('/watch'));
    await once(socket, 'data');
    socket.write(get('/').repeat(PIPELINED_MAX + 1));
    expect(await text).toMatch(/^HTTP\/1.1 200 OK/u);
  });
});

describe('in the middle of a pipeline', () => {
  test('an upgrade request ends the connection with the previous answer, and affects no other connection', async () => {
    const { connect, paths, begun, answers, send } = await startAsked();
    const socket = await connect();
    const text = readToEnd(socket);
    socket.write(get('/held') + get('/next') + UPGRADE);
    await begun('/held');
    answers.get('/held')?.resolve();
    expect(await text).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*Connection: close\r\n[^]*\/held$/u);
    expect(paths).toEqual(['/held']);
    expect(await send({ path: '/other' })).toMatchObject({ code: 200, text: '/other' });
  });

  test('so does one after an answer of Node itself', async () => {
    const { connect, send } = await startAsked();
    const socket = await connect();
    const text = readToEnd(socket);
    socket.write(`GET / HTTP/1.1\r\n\r\n${UPGRADE}`);
    expect(await text).toMatch(/^HTTP\/1.1 400 Bad Request/u);
    expect(await send({ path: '/other' })).toMatchObject({ code: 200 });
  });

  test('an upgrade request after an answer that does not come is cut soon', async () => {
    const { connect, begun, send } = await startAsked();
    const socket = await connect();
    const text = readToEnd(socket);
    socket.write(get('/held') + UPGRADE);
    await begun('/held');
    expect(await text).toBe('');
    expect(await send({ path: '/other' })).toMatchObject({ code: 200 });
  });

  test('bytes after an upgrade request are not parsed as HTTP', async () => {
    const seen: Pick<Exchange, 'path' | 'upgrade'>[] = [];
    running = await startServer(async ({ path, upgrade }) => {
      seen.push({ path, upgrade });
      return Promise.reject(badRequest('not here'));
    });
    const socket = await running.connect();
    socket.write(UPGRADE + get('/smuggled') + get('/smuggled'));
    expect((await readToEnd(socket)).match(/HTTP\/1.1 \d+/gu)).toEqual(['HTTP/1.1 400']);
    expect(seen).toEqual([{ path: '/upgrade', upgrade: true }]);
  });

  test('malformed bytes do not replace the previous answer', async () => {
    const { connect, begun, answers } = await startAsked();
    const socket = await connect();
    const text = readToEnd(socket);
    socket.write(`${get('/held')}rubbish\r\n\r\nmore rubbish`);
    await begun('/held');
    await turns(20);
    socket.write('and more');
    await turns(20);
    answers.get('/held')?.resolve();
    expect(await text).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*Connection: close\r\n[^]*\/held$/u);
  });
});
