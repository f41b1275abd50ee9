import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import type { ServerHttp2Stream } from 'node:http2';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { silentLog } from '../../../../shared/log/log';
import { eventually, PATIENCE_MS } from '../../../../shared/testing/eventually';
import { timeoutHeader } from './status';
import type { Http2Options } from './http2-transport';
import { http2TransportFactory } from './http2-transport';
import { makeCertificates } from '../stores/etcd/testing/certificates';
import type { FakeCall, FakeServer } from './testing/fake-server';
import { ECHO, framed, GRPC_HEAD, reply, replyTrailersOnly, startFakeServer } from './testing/fake-server';
import { startProxy } from '../stores/etcd/testing/proxy';
import { clientTlsOf } from '../../../../shared/client/tls-files';
import type { Transport } from './transport';
import { STATUS, TransportError } from './transport';

const LONG_MS = PATIENCE_MS;
/** The code of RST_STREAM. */
const REFUSED = 7;
const never = (): AbortSignal => new AbortController().signal;
const OPTIONS: Http2Options = { clientTls: clientTlsOf({}, silentLog), dialTimeoutMs: LONG_MS };

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function serve(...args: Parameters<typeof startFakeServer>): Promise<FakeServer> {
  const server = await startFakeServer(...args);
  cleanups.push(async () => server.close());
  return server;
}

function connect(url: string, options: Partial<Http2Options> = {}): Transport {
  const transport = http2TransportFactory({ ...OPTIONS, ...options })(url);
  cleanups.push(() => {
    transport.close();
  });
  return transport;
}

async function call(
  transport: Transport,
  request: string,
  { timeoutMs = LONG_MS, signal = never(), token = undefined as string | undefined } = {},
): Promise<string> {
  await transport.ready(LONG_MS, signal);
  return transport.unary(ECHO, request, { timeoutMs, signal, token });
}

/** How one call fails against a server that answers so. */
async function failure(answer: (call: FakeCall) => void): Promise<TransportError> {
  const server = await serve(answer);
  return failureOf(call(connect(server.url), 'x'));
}

async function failureOf(promise: Promise<unknown>): Promise<TransportError> {
  const error = await promise.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(TransportError);
  return error as TransportError;
}

/** A promise and what settles it. */
function latch<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe('one call', () => {
  test('sends the headers of gRPC and etcd and returns the answer', async () => {
    const seen = latch<FakeCall['headers']>();
    const server = await serve(({ stream, headers, request }) => {
      seen.resolve(headers);
      reply(stream, framed(`${request}!`));
    });
    expect(await call(connect(server.url), 'hello', { timeoutMs: 1_450, token: 'secret' })).toBe('hello!');
    expect(await seen.promise).toMatchObject({
      ':method': 'POST',
      ':scheme': 'http',
      ':authority': `127.0.0.1:${String(server.port)}`,
      ':path': '/test.Fake/Echo',
      te: 'trailers',
      'content-type': 'application/grpc',
      'grpc-timeout': '1500m',
      hasleader: 'true',
      token: 'secret',
    });
  });

  test('a thousand at once share one connection, each with its own answer', async () => {
    const server = await serve(({ stream, request }) => reply(stream, framed(request)));
    const transport = connect(server.url);
    const texts = Array.from({ length: 1_000 }, (_, index) => `text ${String(index)}`);
    expect(await Promise.all(texts.map(async (text) => call(transport, text)))).toEqual(texts);
    expect(server.connections()).toBe(1);
  });

  test('an answer cut into frames of one byte is put together, an empty one is empty', async () => {
    const server = await serve(({ stream, request }) => {
      stream.respond(GRPC_HEAD, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      const bytes = framed(request);
      const next = (at: number): void => {
        if (at === bytes.length) stream.end();
        else stream.write(bytes.subarray(at, at + 1), () => next(at + 1));
      };
      next(0);
    });
    const transport = connect(server.url);
    expect(await call(transport, 'in small pieces')).toBe('in small pieces');
    expect(await call(transport, '')).toBe('');
  });

  test('20 MB go there and back whole', async () => {
    const server = await serve(({ stream, request }) => reply(stream, framed(request)));
    const text = 'twenty bytes of text'.repeat(1024 * 1024);
    expect((await call(connect(server.url), text)) === text).toBe(true);
  });

  test('an IPv6 endpoint is reached', async () => {
    const server = await serve(({ stream, headers }) => reply(stream, framed(headers[':authority'] ?? '')), {
      host: '::1',
    });
    expect(await call(connect(server.url), 'x')).toBe(`[::1]:${String(server.port)}`);
  });

  test('grpc-timeout has few distinct values, never below the real timeout', () => {
    expect([0.2, 100, 101, 9_999.9, 10_000, 1e12].map(timeoutHeader)).toEqual([
      '100m',
      '100m',
      '200m',
      '10000m',
      '10000m',
      '99999900m',
    ]);
  });
});

describe('a call that the server answers with an error', () => {
  test('in trailers only fails with that status and decoded message', async () => {
    const error = await failure(({ stream }) =>
      replyTrailersOnly(stream, '9', 'etcdserver: 100%25 full %E2%82%AC'),
    );
    expect(error).toMatchObject({ code: 9, details: 'etcdserver: 100% full €', mayHaveRun: true });
  });

  test('after a message fails with that status, and an undecodable message text is unchanged', async () => {
    const error = await failure(({ stream }) => reply(stream, framed('half'), '14', 'down %zz'));
    expect(error).toMatchObject({ code: STATUS.unavailable, details: 'down %zz' });
  });

  test('before it has read the request fails with that status and cancels the request', async () => {
    const reset = latch<number>();
    const server = await serve(() => undefined, {
      onHead: (stream) => {
        stream.pause();
        stream.on('close', () => reset.resolve(stream.rstCode ?? -1));
        replyTrailersOnly(stream, '8', 'too large');
      },
    });
    const calling = call(connect(server.url), 'x'.repeat(5_000_000));
    expect(await failureOf(calling)).toMatchObject({ code: STATUS.resourceExhausted, details: 'too large' });
    expect(await reset.promise).toBe(8);
  });

  test.each([
    [502, STATUS.unavailable],
    [503, STATUS.unavailable],
    [429, STATUS.unavailable],
    [401, STATUS.unauthenticated],
    [404, STATUS.unimplemented],
    [418, STATUS.unknown],
    [200, STATUS.unknown],
  ])('from a proxy, in HTML with status %d, has code %d and may have run', async (http, code) => {
    const error = await failure(({ stream }) => {
      stream.respond({ ':status': http, 'content-type': 'text/html' });
      stream.end('<h1>Bad Gateway</h1>');
    });
    expect(error).toMatchObject({ code, mayHaveRun: true });
    expect(error.details).toMatch(`HTTP status ${String(http)}, of type text/html`);
  });
});

describe('an answer that is not what gRPC allows is refused', () => {
  const cases: readonly (readonly [string, RegExp, (stream: ServerHttp2Stream) => void])[] = [
    ['without a message', /0 messages/, (stream) => reply(stream, Buffer.alloc(0))],
    ['with two messages', /2 messages/, (stream) => reply(stream, Buffer.concat([framed('a'), framed('b')]))],
    [
      'with half a message',
      /0 messages and a part/,
      (stream) => reply(stream, framed('abcdef').subarray(0, 8)),
    ],
    ['with half a head', /0 messages and a part/, (stream) => reply(stream, framed('abcdef').subarray(0, 3))],
    [
      'with a message and a half',
      /1 messages and a part/,
      (stream) => reply(stream, Buffer.concat([framed('a'), framed('b').subarray(0, 5)])),
    ],
    ['compressed', /compressed/, (stream) => reply(stream, framed('a', 1))],
    ['of 4 GB', /4294967295 bytes/, (stream) => reply(stream, Buffer.from([0, 255, 255, 255, 255, 1]))],
    ['malformed', /no text/, (stream) => reply(stream, framed('malformed'))],
    ['with a status that is no number', /^$/, (stream) => replyTrailersOnly(stream, 'fine', '')],
    [
      'without a status',
      /without a status/,
      (stream) => {
        stream.respond(GRPC_HEAD);
        stream.end(framed('a'));
      },
    ],
    [
      'with trailers of another kind',
      /without a gRPC status/,
      (stream) => {
        stream.respond(GRPC_HEAD, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'x-other': '1' }));
        stream.end(framed('a'));
      },
    ],
  ];

  test.each(cases)('%s', async (_, details, answer) => {
    const error = await failure(({ stream }) => answer(stream));
    expect(error.details).toMatch(details);
    expect([STATUS.internal, STATUS.unknown]).toContain(error.code);
    expect(error.mayHaveRun).toBe(true);
  });
});

describe('a stream that the server resets', () => {
  test.each([
    ['NO_ERROR', 0, STATUS.internal, true],
    ['PROTOCOL_ERROR', 1, STATUS.internal, true],
    ['INTERNAL_ERROR', 2, STATUS.internal, true],
    ['REFUSED_STREAM', 7, STATUS.unavailable, false],
    ['CANCEL', 8, STATUS.cancelled, true],
    ['ENHANCE_YOUR_CALM', 11, STATUS.unavailable, true],
    ['INADEQUATE_SECURITY', 12, STATUS.permissionDenied, true],
  ])('with %s (%d) has code %d; that it may have run is %s', async (_, reset, code, mayHaveRun) => {
    expect(await failure(({ stream }) => stream.close(reset))).toMatchObject({ code, mayHaveRun });
  });

  test('after half of its answer may have run', async () => {
    const error = await failure(({ stream }) => {
      stream.respond(GRPC_HEAD);
      stream.write(framed('abcdef').subarray(0, 7), () => stream.close(2));
    });
    expect(error).toMatchObject({ code: STATUS.internal, mayHaveRun: true });
  });

  test('does not affect other streams or the connection', async () => {
    const server = await serve(({ stream, request }) =>
      request === 'bad' ? stream.close(2) : reply(stream, framed(request)),
    );
    const transport = connect(server.url);
    const [bad, good] = await Promise.allSettled([call(transport, 'bad'), call(transport, 'good')]);
    expect(bad.status).toBe('rejected');
    expect(good).toEqual({ status: 'fulfilled', value: 'good' });
    expect(await call(transport, 'later')).toBe('later');
    expect(server.connections()).toBe(1);
  });
});

describe('a server that goes away', () => {
  test('drains calls in flight, while new calls use a new connection', async () => {
    const held = latch<FakeCall>();
    const server = await serve((one) => {
      if (one.request === 'held') held.resolve(one);
      else reply(one.stream, framed(String(one.connection)));
    });
    const transport = connect(server.url);
    const slow = call(transport, 'held');
    const { stream } = await held.promise;
    stream.session?.goaway(0);
    // Until the frame has come calls still leave by the first connection; they are answered there, or have not run.
    const over = async (): Promise<string> => {
      const [answer] = await Promise.allSettled([call(transport, 'x')]);
      return answer.status === 'fulfilled'
        ? answer.value
        : String((answer.reason as TransportError).mayHaveRun);
    };
    let connection = '1';
    while (['1', 'false'].includes(connection)) connection = await over();
    expect(connection).toBe('2');
    reply(stream, framed('in good order'));
    expect(await slow).toBe('in good order');
  });

  /** Two calls under way, of which the server names the first as the last it will run. */
  async function goAway(code: number): Promise<{
    readonly first: Promise<string>;
    readonly taken: ServerHttp2Stream;
    readonly second: TransportError;
  }> {
    const waiting = new Map<string, ServerHttp2Stream>();
    const both = latch<void>();
    const server = await serve(({ stream, request }) => {
      waiting.set(request, stream);
      if (waiting.size === 2) both.resolve();
    });
    const transport = connect(server.url);
    await transport.ready(LONG_MS, never());
    const first = call(transport, 'first');
    first.catch(() => undefined);
    const second = failureOf(call(transport, 'second'));
    await both.promise;
    const taken = waiting.get('first')!;
    taken.session!.goaway(code, taken.id, Buffer.from('too_many_pings'));
    return { first, taken, second: await second };
  }

  test('by a graceful GOAWAY has not processed the streams above last-stream-id', async () => {
    const { first, taken, second } = await goAway(0);
    expect(second).toMatchObject({ code: STATUS.unavailable, mayHaveRun: false });
    reply(taken, framed('done'));
    expect(await first).toBe('done');
  });

  test('by a GOAWAY with an error has not processed the streams above last-stream-id, and maybe others', async () => {
    const { first, second } = await goAway(11);
    expect(second).toMatchObject({ code: STATUS.unavailable, mayHaveRun: false });
    const error = await failureOf(first);
    expect(error).toMatchObject({ code: STATUS.unavailable, mayHaveRun: true });
    expect(error.details).toMatch(/code 11\): too_many_pings/);
  });

  test('in the middle of an answer leaves a call that may have run, and the next one connects again', async () => {
    const server = await serve(({ stream, request, connection }) => {
      if (connection > 1) {
        reply(stream, framed(request));
        return;
      }
      stream.respond(GRPC_HEAD);
      stream.write(framed('abcdef').subarray(0, 7));
    });
    const proxy = await startProxy(server.url);
    cleanups.push(async () => proxy.close());
    const transport = connect(proxy.url);
    await transport.ready(LONG_MS, never());
    proxy.cutAfter(8);
    expect(await failureOf(call(transport, 'x'))).toMatchObject({
      code: STATUS.unavailable,
      mayHaveRun: true,
    });
    expect(proxy.cuts()).toBe(1);
    expect(await call(transport, 'again')).toBe('again');
  });
});

describe('a caller', () => {
  test('whose timeout passes gets deadlineExceeded, and the stream is cancelled', async () => {
    const reset = latch<number>();
    const server = await serve(({ stream }) => {
      stream.on('close', () => reset.resolve(stream.rstCode ?? -1));
    });
    const transport = connect(server.url);
    await transport.ready(LONG_MS, never());
    const error = await failureOf(call(transport, 'x', { timeoutMs: 50 }));
    expect(error).toMatchObject({ code: STATUS.deadlineExceeded, mayHaveRun: true });
    expect(error.details).toBe('No answer came within 50 ms.');
    expect(await reset.promise).toBe(8);
  });

  test('that aborts gets cancelled, and the stream is cancelled', async () => {
    const reset = latch<number>();
    const came = latch<void>();
    const server = await serve(({ stream }) => {
      came.resolve();
      stream.on('close', () => reset.resolve(stream.rstCode ?? -1));
    });
    const controller = new AbortController();
    const calling = failureOf(call(connect(server.url), 'x', { signal: controller.signal }));
    await came.promise;
    controller.abort();
    expect(await calling).toMatchObject({ code: STATUS.cancelled, mayHaveRun: true });
    expect(await reset.promise).toBe(8);
  });

  test('that aborts during large answers does not affect the connection', async () => {
    const server = await serve(({ stream, request }) =>
      reply(stream, framed(request === 'small' ? request : 'x'.repeat(2_000_000))),
    );
    const transport = connect(server.url);
    await transport.ready(LONG_MS, never());
    const begun = Array.from({ length: 50 }, async (_, index) =>
      failureOf(call(transport, 'big', { timeoutMs: 5 + (index % 20) })),
    );
    expect(await Promise.all(begun)).toContainEqual(expect.objectContaining({ mayHaveRun: true }));
    expect(await call(transport, 'small')).toBe('small');
    expect((await call(transport, 'big')).length).toBe(2_000_000);
    expect(server.connections()).toBe(1);
  });

  test('that aborted before the call sends nothing', async () => {
    let calls = 0;
    const server = await serve(({ stream }) => {
      calls++;
      reply(stream, framed(''));
    });
    const transport = connect(server.url);
    await transport.ready(LONG_MS, never());
    const options = { timeoutMs: LONG_MS, signal: AbortSignal.abort() };
    expect(await failureOf(transport.unary(ECHO, 'x', options))).toMatchObject({
      code: STATUS.cancelled,
      mayHaveRun: false,
    });
    await call(transport, 'x');
    expect(calls).toBe(1);
  });

  test('that closes the transport ends the calls in flight', async () => {
    const came = latch<void>();
    const server = await serve(() => came.resolve());
    const transport = connect(server.url);
    const calling = failureOf(call(transport, 'x'));
    await came.promise;
    transport.close();
    expect(await calling).toMatchObject({ code: STATUS.cancelled, mayHaveRun: true });
    expect(await failureOf(call(transport, 'x'))).toMatchObject({ mayHaveRun: false });
  });
});

describe('a server that allows two streams at once', () => {
  const settings = { maxConcurrentStreams: 2 };

  test('gets two calls at a time, and all in order', async () => {
    const waiting: FakeCall[] = [];
    let most = 0;
    let running = 0;
    const order: string[] = [];
    const server = await serve(
      (one) => {
        running++;
        most = Math.max(most, running);
        order.push(one.request);
        waiting.push(one);
        one.stream.on('close', () => running--);
        setImmediate(() => reply(one.stream, framed(one.request)));
      },
      { settings },
    );
    const transport = connect(server.url);
    const texts = Array.from({ length: 20 }, (_, index) => String(index));
    expect(await Promise.all(texts.map(async (text) => call(transport, text)))).toEqual(texts);
    expect(most).toBe(2);
    expect(order).toEqual(texts);
  });

  test('queues further calls up to a limit; a call that leaves the queue has not run', async () => {
    const held: FakeCall[] = [];
    const full = latch<void>();
    const server = await serve(
      (one) => {
        held.push(one);
        if (held.length === 2) full.resolve();
      },
      { settings },
    );
    const transport = connect(server.url, { tuning: { queuedCallsMax: 3 } });
    await transport.ready(LONG_MS, never());
    const running = [call(transport, 'a'), call(transport, 'b')];
    await full.promise;
    const controller = new AbortController();
    const aborted = failureOf(call(transport, 'aborted', { signal: controller.signal }));
    const late = failureOf(call(transport, 'late', { timeoutMs: 30 }));
    const patient = call(transport, 'patient');
    const refused = await failureOf(call(transport, 'one too many'));
    expect(refused).toMatchObject({ code: STATUS.unavailable, mayHaveRun: false });
    controller.abort();
    expect(await aborted).toMatchObject({ code: STATUS.cancelled, mayHaveRun: false });
    expect(await late).toMatchObject({ code: STATUS.deadlineExceeded, mayHaveRun: false });
    for (const { stream, request } of held.splice(0)) reply(stream, framed(request));
    expect(await Promise.all(running)).toEqual(['a', 'b']);
    while (held.length === 0) await new Promise(setImmediate);
    expect(held.map(({ request }) => request)).toEqual(['patient']);
    reply(held[0]!.stream, framed('patient'));
    expect(await patient).toBe('patient');
  });
});

describe('a connection', () => {
  test('that does not answer a ping ends, its calls may have run, and a new one is made', async () => {
    const came = latch<void>();
    const server = await serve(({ stream, request }) => {
      if (request === 'held') came.resolve();
      else reply(stream, framed(request));
    });
    const proxy = await startProxy(server.url);
    cleanups.push(async () => proxy.close());
    const transport = connect(proxy.url, { tuning: { keepAliveMs: 50, pingTimeoutMs: 100 } });
    const calling = failureOf(call(transport, 'held'));
    await came.promise;
    proxy.freeze();
    const error = await calling;
    expect(error).toMatchObject({ code: STATUS.unavailable, mayHaveRun: true });
    expect(error.details).toMatch(/ping within 100 ms/);
    proxy.thaw();
    // Where everything is slow the next connection may seem silent, too.
    await eventually('a new connection serves', async () =>
      call(transport, 'again').then(
        (text) => text === 'again',
        () => false,
      ),
    );
  });

  test('is pinged only with calls in flight, and stays open while it answers', async () => {
    const held = latch<FakeCall>();
    let pings = 0;
    const server = await serve((one) => {
      if (one.request === 'held') held.resolve(one);
      else reply(one.stream, framed(''));
    });
    const transport = connect(server.url, { tuning: { keepAliveMs: 20, pingTimeoutMs: LONG_MS } });
    await call(transport, 'x');
    const [session] = server.sessions;
    const pinged = latch<void>();
    session!.on('ping', () => {
      pings++;
      if (pings === 3) pinged.resolve();
    });
    const slow = call(transport, 'held');
    const { stream } = await held.promise;
    await pinged.promise;
    reply(stream, framed('alive'));
    expect(await slow).toBe('alive');
    expect(server.connections()).toBe(1);
  });

  test('whose PING answer is late after a long stream stays open', async () => {
    const total = 40;
    const server = await serve(({ stream }) => {
      reply(stream, Buffer.concat(Array.from({ length: total }, () => framed('x'.repeat(50_000)))));
    });
    // Everything takes the time of several pings, and some of it comes in the time of each.
    const proxy = await startProxy(server.url, { bytesPerMs: 500 });
    cleanups.push(async () => proxy.close());
    const transport = connect(proxy.url, { tuning: { keepAliveMs: 100, pingTimeoutMs: 1_000 } });
    await transport.ready(LONG_MS, never());
    let seen = 0;
    for await (const batch of transport.stream(ECHO, 'begin', {})) seen += batch.length;
    expect(seen).toBe(total);
  });

  test('that ends before it answered a call is reopened only after a backoff', async () => {
    const server = await serve(({ stream }) => {
      stream.close(REFUSED);
      stream.session?.close();
    });
    const transport = connect(server.url);
    const timers = jest.spyOn(globalThis, 'setTimeout');
    while (server.connections() < 5) {
      expect(await failureOf(call(transport, 'x'))).toMatchObject({ mayHaveRun: false });
    }
    const pauses = timers.mock.calls.flatMap(([, ms = 0]) => (ms < 1_000 ? [ms] : []));
    timers.mockRestore();
    // Drawn from the upper halves of 100, 200, 400 and 800 ms.
    expect(pauses.map((ms) => Math.floor(Math.log2(ms / 50)))).toEqual([0, 1, 2, 3]);
  });

  test('that is allowed its first stream late begins the calls that wait for it then', async () => {
    const server = await serve(({ stream, request }) => reply(stream, framed(request)), {
      settings: { maxConcurrentStreams: 0 },
    });
    const transport = connect(server.url);
    const calling = call(transport, 'patient');
    while (server.connections() === 0) await new Promise(setImmediate);
    server.sessions[0]!.settings({ maxConcurrentStreams: 1 });
    expect(await calling).toBe('patient');
  });

  test('that runs out of stream ids is replaced without losing a call', async () => {
    const server = await serve(({ stream, request }) => reply(stream, framed(request)));
    const transport = connect(server.url, { tuning: { lastStreamId: 9 } });
    const texts = Array.from({ length: 5 }, (_, index) => `together ${String(index)}`);
    await transport.ready(LONG_MS, never());
    expect(await Promise.all(texts.map(async (text) => call(transport, text)))).toEqual(texts);
    for (let index = 0; index < 12; index++) expect(await call(transport, String(index))).toBe(String(index));
    expect(server.connections()).toBe(4);
  });

  test('that is refused fails at once, and without a new attempt during the backoff', async () => {
    const transport = connect('http://127.0.0.1:1');
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    const error = await failureOf(Promise.resolve(transport.ready(LONG_MS, never())));
    expect(error).toMatchObject({ code: STATUS.unavailable, mayHaveRun: false });
    expect(error.details).toMatch(/ECONNREFUSED/);
    expect(await failureOf(Promise.resolve(transport.ready(LONG_MS, never())))).toBe(error);
    const options = { timeoutMs: LONG_MS, signal: never() };
    expect(await failureOf(transport.unary(ECHO, 'x', options))).toMatchObject({ mayHaveRun: false });
    const reading = transport.stream(ECHO, 'x', {})[Symbol.asyncIterator]();
    expect(await failureOf(reading.next())).toMatchObject({ mayHaveRun: false });
    clock.mockRestore();
  });

  test('to a silent server times out; the caller may abort earlier', async () => {
    // It reads all the same, so that it notices when its clients leave.
    const silent = net.createServer((socket) => {
      socket.on('error', () => undefined).resume();
    });
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    cleanups.push(() => void silent.close());
    const url = `http://127.0.0.1:${String((silent.address() as net.AddressInfo).port)}`;
    const transport = connect(url, { dialTimeoutMs: 200 });
    const hasty = failureOf(Promise.resolve(transport.ready(20, never())));
    const controller = new AbortController();
    const gone = failureOf(Promise.resolve(transport.ready(LONG_MS, controller.signal)));
    const patient = failureOf(Promise.resolve(transport.ready(LONG_MS, never())));
    controller.abort();
    expect(await gone).toMatchObject({ code: STATUS.cancelled, mayHaveRun: false });
    for (const error of [await hasty, await patient]) {
      expect(error).toMatchObject({ code: STATUS.unavailable, mayHaveRun: false });
      expect(error.details).toMatch(/in time/);
    }
  });

  test('to a server that does not speak HTTP/2 fails', async () => {
    const other = net.createServer((socket) => {
      socket.on('error', () => undefined).resume();
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    cleanups.push(() => void other.close());
    const transport = connect(`http://127.0.0.1:${String((other.address() as net.AddressInfo).port)}`);
    expect(await failureOf(Promise.resolve(transport.ready(LONG_MS, never())))).toMatchObject({
      code: STATUS.unavailable,
      mayHaveRun: false,
    });
  });
});

describe('over TLS', () => {
  test('a wrong host name and an unknown CA are reported, and renewed files are used by the next connection', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'orch-h2-'));
    cleanups.push(async () => rm(folder, { recursive: true, force: true }));
    const { server: ours } = await makeCertificates(folder);
    const others = await mkdtemp(path.join(os.tmpdir(), 'orch-h2-'));
    cleanups.push(async () => rm(others, { recursive: true, force: true }));
    const { server: theirs } = await makeCertificates(others);
    const tls = { key: await readFile(theirs.keyFile), cert: await readFile(theirs.certFile) };
    const server = await serve(({ stream, request }) => reply(stream, framed(request)), { tls });
    const clientTls = clientTlsOf({ caFile: ours.caFile }, silentLog);
    const transport = connect(server.url, { clientTls });
    const error = await failureOf(call(transport, 'x'));
    expect(error).toMatchObject({ code: STATUS.unavailable, mayHaveRun: false });
    expect(error.details).toMatch(/^x509: certificate signed by unknown authority/);
    await rm(ours.caFile);
    expect(clientTls()).toBe(clientTls());
    await copyFile(theirs.caFile, ours.caFile);
    const renewed = connect(server.url, { clientTls });
    expect(await call(renewed, 'trusted')).toBe('trusted');
    const named = connect(server.url.replace('127.0.0.1', 'localhost'), { clientTls });
    expect((await failureOf(call(named, 'x'))).details).toBe(
      'x509: certificate is not valid for any names, but wanted to match localhost',
    );
  });

  test('missing files are logged once by name, without other options', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'orch-h2-'));
    cleanups.push(async () => rm(folder, { recursive: true, force: true }));
    const { caFile } = (await makeCertificates(folder)).server;
    const lines: object[] = [];
    const options = { caFile, password: 'secret' };
    const clientTls = clientTlsOf(options, {
      ...silentLog,
      warn: (fields) => void lines.push(fields),
    });
    await rm(caFile);
    expect(clientTls()).toBe(clientTls());
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ caFile });
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  test('invalid files at the start are rejected', () => {
    expect(() => clientTlsOf({ caFile: '/nowhere/ca.pem' }, silentLog)).toThrow(/ENOENT/);
  });
});

describe('a stream of messages', () => {
  async function open(answer: (one: FakeCall) => void): Promise<AsyncIterator<readonly string[]>> {
    const server = await serve(answer);
    const transport = connect(server.url);
    await transport.ready(LONG_MS, never());
    return transport.stream(ECHO, 'begin', {})[Symbol.asyncIterator]();
  }

  test('returns all messages that arrived together, in order, and ends with the server status', async () => {
    const reading = await open(({ stream, request, headers }) => {
      expect(headers['grpc-timeout']).toBeUndefined();
      reply(stream, Buffer.concat([framed(request), framed('two'), framed(''), framed('four')]));
    });
    const seen: string[] = [];
    for (let step = await reading.next(); step.done !== true; step = await reading.next())
      seen.push(...step.value);
    expect(seen).toEqual(['begin', 'two', '', 'four']);
  });

  test.each([
    [
      'an error of the server',
      14,
      (stream: ServerHttp2Stream) => reply(stream, framed('one'), '14', 'no leader'),
    ],
    [
      'a malformed message',
      13,
      (stream: ServerHttp2Stream) => {
        stream.respond(GRPC_HEAD);
        stream.write(Buffer.concat([framed('one'), framed('malformed'), framed('three')]));
      },
    ],
    [
      'a compressed message',
      13,
      (stream: ServerHttp2Stream) => {
        stream.respond(GRPC_HEAD);
        stream.write(Buffer.concat([framed('one'), framed('two', 1)]));
      },
    ],
    [
      'half a message',
      13,
      (stream: ServerHttp2Stream) =>
        reply(stream, Buffer.concat([framed('one'), framed('two').subarray(0, 6)])),
    ],
    [
      'a reset',
      13,
      (stream: ServerHttp2Stream) => {
        stream.respond(GRPC_HEAD);
        stream.write(framed('one'), () => setImmediate(() => stream.close(2)));
      },
    ],
  ])('delivers what came before %s', async (_, code, answer) => {
    const reading = await open(({ stream }) => answer(stream));
    expect(await reading.next()).toEqual({ done: false, value: ['one'] });
    expect(await failureOf(reading.next())).toMatchObject({ code });
  });

  test('that is refused with trailers only, or by a proxy, fails when it is read', async () => {
    const refused = await open(({ stream }) => replyTrailersOnly(stream, '7', 'permission denied'));
    expect(await failureOf(refused.next())).toMatchObject({ code: 7, details: 'permission denied' });
    const proxied = await open(({ stream }) => {
      stream.respond({ ':status': 503, 'content-type': 'text/plain' });
      stream.end('busy');
    });
    expect(await failureOf(proxied.next())).toMatchObject({ code: STATUS.unavailable });
  });

  test('is cancelled at the server when the reader returns', async () => {
    const reset = latch<number>();
    const reading = await open(({ stream }) => {
      stream.on('close', () => reset.resolve(stream.rstCode ?? -1));
      stream.respond(GRPC_HEAD);
      stream.write(framed('one'));
    });
    await reading.next();
    await reading.return?.();
    expect(await reset.promise).toBe(8);
  });

  test('frees its stream when the reader returns with unread data', async () => {
    const sent = latch<void>();
    const server = await serve(
      ({ stream, request }) => {
        if (request === 'held') return;
        if (request !== 'long') {
          reply(stream, framed(request));
          return;
        }
        reply(stream, Buffer.concat(Array.from({ length: 60 }, () => framed('x'.repeat(100_000)))));
        stream.on('finish', () => sent.resolve());
      },
      { settings: { maxConcurrentStreams: 2 } },
    );
    const transport = connect(server.url);
    await transport.ready(LONG_MS, never());
    const reading = transport.stream(ECHO, 'long', {})[Symbol.asyncIterator]();
    await reading.next();
    await sent.promise;
    // Its answer arrives after the end of the stream.
    await call(transport, 'before');
    await reading.return?.();
    void call(transport, 'held').catch(() => undefined);
    expect(await call(transport, 'after')).toBe('after');
  });

  test('with a slow reader applies backpressure to the server, and is complete in the end', async () => {
    const total = 300;
    let sent = 0;
    const blocked = latch<void>();
    const reading = await open(({ stream }) => {
      stream.respond(GRPC_HEAD, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      const write = (): void => {
        while (sent < total) {
          sent++;
          if (!stream.write(framed(String(sent).padEnd(100_000, '.')))) {
            stream.once('drain', write);
            break;
          }
        }
        if (sent === total) stream.end();
      };
      write();
      const watch = (before: number): void => {
        setTimeout(() => (sent === before ? blocked.resolve() : watch(sent)), 100);
      };
      watch(0);
    });
    await blocked.promise;
    // 30 MB are there to send; of them 4 MB are read ahead and one window lies before them.
    expect(sent).toBeLessThan(150);
    let seen = 0;
    for (let step = await reading.next(); step.done !== true; step = await reading.next()) {
      for (const text of step.value) {
        seen++;
        expect(text.slice(0, 4)).toBe(String(seen).padEnd(4, '.'));
      }
    }
    expect(seen).toBe(total);
  });
});
