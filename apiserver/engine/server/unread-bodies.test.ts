import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { UserInfo } from '../request/exchange';
import { NO_USER } from '../request/initial-values';
import { eventually } from '../../../shared/testing/eventually';
import type { SeenFrame } from '../../../shared/testing/http2-frames';
import {
  FLAG,
  framesOf,
  HTTP2_PREFACE,
  HTTP2_SETTINGS_TAKEN,
  http2Frame,
  http2Head,
  ofType,
  uint32,
} from '../../../shared/testing/http2-frames';
import { newConnectionCounts } from './connection-counts';
import { createMemoryLimitStage, HeldBytes } from './held-bytes';
import type { RequestMemory } from './held-bytes';
import { STREAM_WINDOW_BYTES, UNREAD_BODIES_BYTES_CUT, UNREAD_BODIES_BYTES_MAX } from './limits';
import type { ServerSettings } from './server';
import type { TestServer } from './testing/client';
import { deferred, startServer, textAnswer } from './testing/client';
import { UnreadBodies } from './unread-bodies';
import type { Http2Reply } from './testing/http2-client';
import { connectHttp2, readReply } from './testing/http2-client';

const KB = 1_024;
const MB = 1_024 * KB;
const DATA = 0;

describe('the unread part of a body', () => {
  /** Comes in a read of the connection of so many bytes. */
  function receive(unread: UnreadBodies, stream: number, bytes: number, readBytes = bytes): void {
    unread.read(readBytes);
    unread.begin({ type: DATA, stream }, bytes);
    unread.content(bytes);
  }

  test('counts the whole read that it is part of, until the last byte is consumed', () => {
    const unread = new UnreadBodies();
    const body = unread.of(1);
    receive(unread, 1, 1, 16 * KB);
    receive(unread, 1, 2, 16 * KB);
    expect(unread.bytes).toBeGreaterThan(32 * KB);
    body.taken(1);
    expect(unread.bytes).toBeGreaterThan(16 * KB);
    expect(unread.bytes).toBeLessThan(32 * KB);
    body.taken(1);
    expect(unread.bytes).toBeGreaterThan(16 * KB);
    body.taken(1);
    expect(unread.bytes).toBe(0);
  });

  test('counts a read shared by several bodies once', () => {
    const unread = new UnreadBodies();
    const bodies = [unread.of(1), unread.of(3)];
    unread.read(16 * KB);
    for (const stream of [1, 3]) {
      unread.begin({ type: DATA, stream }, 8 * KB);
      unread.content(8 * KB);
    }
    expect(unread.bytes).toBeLessThan(17 * KB);
    bodies[0]?.taken(8 * KB);
    expect(unread.bytes).toBeGreaterThan(16 * KB);
    bodies[1]?.over();
    expect(unread.bytes).toBe(0);
  });

  test('is consumed in order', () => {
    const unread = new UnreadBodies();
    const body = unread.of(1);
    let held = 0;
    for (let round = 0; round < 210; round += 1) {
      const coming = round < 100 ? 7 : 0;
      for (let at = 0; at < coming; at += 1) receive(unread, 1, 3, KB);
      body.taken(10);
      held += 3 * coming - 10;
      const parts = Math.ceil(Math.max(0, held) / 3);
      expect(Math.round(unread.bytes / (KB + 256))).toBe(parts);
    }
    expect(unread.bytes).toBe(0);
    receive(unread, 1, 1, KB);
    body.taken(1);
    receive(unread, 1, 1, KB);
    body.over();
    expect(unread.bytes).toBe(0);
  });

  test('is discarded once its request has ended, up to the size of all windows', () => {
    const unread = new UnreadBodies();
    for (let at = 0; at < 1_000; at += 1) {
      unread.of(2 * at + 1).over();
      for (let part = 0; part < 16; part += 1) receive(unread, 2 * at + 1, 16 * KB - 256);
      expect([unread.bytes, unread.isMisused]).toEqual([0, false]);
    }
    for (let parts = UNREAD_BODIES_BYTES_CUT / (16 * KB); parts >= 0; parts -= 1) receive(unread, 1, 16 * KB);
    expect([unread.bytes, unread.isFull, unread.isMisused]).toEqual([0, false, true]);
  });

  test('counts overhead for each chunk of a read', () => {
    const unread = new UnreadBodies();
    unread.of(1);
    unread.read(16 * KB);
    for (let at = 0; at < 1_600; at += 1) {
      unread.begin({ type: DATA, stream: 1 }, 1);
      unread.content(1);
    }
    expect(unread.bytes).toBeGreaterThan(300 * KB);
  });

  test('exceeds the limit if there is no request to refuse', () => {
    const unread = new UnreadBodies();
    let stream = 1;
    for (; unread.bytes <= UNREAD_BODIES_BYTES_MAX; stream += 2) receive(unread, stream, MB);
    expect(unread.isFull).toBe(false);
    for (; unread.bytes <= UNREAD_BODIES_BYTES_CUT; stream += 2) receive(unread, stream, MB);
    expect(unread.isFull).toBe(true);
  });

  test('is released with its request, and unreported streams with later ones', () => {
    const unread = new UnreadBodies();
    for (const stream of [1, 3, 5]) receive(unread, stream, KB);
    const third = unread.of(3);
    const one = unread.bytes / 2;
    unread.began(7);
    expect(unread.bytes).toBe(one);
    third.over();
    expect(unread.bytes).toBe(0);
    for (const stream of [1, 3, 5, 7]) receive(unread, stream, KB);
    expect(unread.bytes).toBe(0);
  });
});

describe('unread bodies over HTTP/2', () => {
  let running: TestServer | undefined;
  const sockets: TLSSocket[] = [];
  const sessions: ClientHttp2Session[] = [];
  let goOn = deferred();
  afterEach(async () => {
    goOn.resolve();
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const session of sessions.splice(0)) session.destroy();
    await running?.stop();
    running = undefined;
    goOn = deferred();
  });

  function memoryOf(perUserMax: number, totalMax: number): RequestMemory {
    const limits = { perUserMax, totalMax };
    return { bodies: new HeldBytes(limits), answers: new HeldBytes(limits) };
  }

  /** Requests wait, and then read their body. The user is the path. */
  async function start(
    memory: RequestMemory,
    settings: Partial<ServerSettings> = {},
  ): Promise<TestServer & { begun: () => number }> {
    const limit = createMemoryLimitStage(memory);
    let begun = 0;
    const server = await startServer(
      async (exchange) => {
        exchange.user = { ...NO_USER, name: exchange.path } satisfies UserInfo;
        begun += 1;
        await limit(exchange, async () => {
          const given = new Promise((_, reject) => {
            const { signal } = exchange;
            const stop = (): void => reject(signal.reason as Error);
            if (signal.aborted) stop();
            else signal.addEventListener('abort', stop);
          });
          await Promise.race([goOn.promise, given]);
          exchange.answer = textAnswer(String((await exchange.readBody()).length));
        });
      },
      { http2: { streamsMax: 250, goawayChance: 0 }, memory, ...settings },
    );
    running = server;
    return { ...server, begun: () => begun };
  }

  /** For bytes that no client sends. */
  interface Connection {
    readonly socket: TLSSocket;
    readonly frames: SeenFrame[];
  }

  async function open({ connect }: TestServer): Promise<Connection> {
    const socket = await connect(['h2']);
    sockets.push(socket);
    const frames = framesOf(socket);
    socket.write(HTTP2_PREFACE);
    await eventually('the server sends its windows', async () => ofType(frames, 'settings').length > 0);
    socket.write(HTTP2_SETTINGS_TAKEN);
    return { socket, frames };
  }

  function part(stream: number, bytes: number): Buffer {
    return http2Frame('data', { stream, payload: Buffer.alloc(bytes, '.') });
  }

  interface Post {
    readonly stream: ClientHttp2Stream;
    readonly reply: Promise<Http2Reply>;
  }

  /** Sends all that is taken unread of a body that does not end. */
  function post(session: ClientHttp2Session, path: string): Post {
    const stream = session.request({ ':method': 'POST', ':path': path }, { endStream: false });
    const reply = readReply(stream);
    stream.write(Buffer.alloc(STREAM_WINDOW_BYTES, '.'));
    return { stream, reply };
  }

  async function openSession({ port }: TestServer): Promise<ClientHttp2Session> {
    const session = await connectHttp2(port);
    sessions.push(session);
    return session;
  }

  /** Counts the answers by their codes, as they come. */
  function codesOf(posts: readonly Post[]): number[] {
    const codes: number[] = [];
    for (const { reply } of posts) void reply.then(({ code }) => codes.push(code));
    return codes;
  }

  test('count for their user until they are read, and are then complete', async () => {
    const memory = memoryOf(64 * MB, 64 * MB);
    const { stream, reply } = post(await openSession(await start(memory)), '/a');
    await eventually('it is counted', async () => memory.bodies.total > STREAM_WINDOW_BYTES / 2);
    goOn.resolve();
    stream.end('.');
    expect(await reply).toMatchObject({ code: 200, text: String(STREAM_WINDOW_BYTES + 1) });
    await eventually('nothing is counted', async () => memory.bodies.total === 0);
  });

  test('are limited per user over all connections', async () => {
    const memory = memoryOf(2 * MB, 64 * MB);
    const server = await start(memory);
    const sent = await Promise.all([openSession(server), openSession(server), openSession(server)]);
    const posts = sent.flatMap((session) => Array.from({ length: 8 }, () => post(session, '/a')));
    const codes = codesOf(posts);
    await eventually('requests over the limit are refused', async () => codes.length >= 14);
    expect(new Set(codes)).toEqual(new Set([429]));
    expect(memory.bodies.total).toBeLessThanOrEqual(2 * MB);
    const { 'retry-after': seconds } = (await Promise.race(posts.map(async ({ reply }) => reply))).headers;
    expect(Number(seconds)).toBeGreaterThan(0);
    const other = post(await openSession(server), '/b');
    await eventually('another user is let in', async () => server.begun() === 25);
    goOn.resolve();
    other.stream.end();
    expect((await other.reply).code).toBe(200);
    for (const { stream } of posts) stream.end();
    await eventually('all are answered', async () => codes.length === 24);
    await eventually('nothing is counted', async () => memory.bodies.total === 0);
  });

  test('are limited per connection; other connections continue', async () => {
    const counts = newConnectionCounts();
    const memory = memoryOf(1_024 * MB, 1_024 * MB);
    const session = await openSession(await start(memory, { counts }));
    const posts = Array.from({ length: 100 }, (_, at) => post(session, `/${String(at)}`));
    const codes = codesOf(posts);
    const most = UNREAD_BODIES_BYTES_MAX / STREAM_WINDOW_BYTES;
    await eventually('requests over the limit are refused', async () => codes.length >= 100 - most);
    goOn.resolve();
    for (const { stream } of posts) stream.end();
    await eventually('the others are answered', async () => codes.length === 100);
    expect(codes.filter((code) => code === 200).length).toBeGreaterThan(most / 2);
    expect(new Set(codes)).toEqual(new Set([200, 429]));
    expect([session.destroyed, counts.http2Floods]).toEqual([false, 0]);
  });

  test('sent byte by byte between other frames end the connection before they keep much memory', async () => {
    const counts = newConnectionCounts();
    const memory = memoryOf(2 * MB, 64 * MB);
    const { socket, frames } = await open(await start(memory, { counts }));
    const much = Buffer.concat(
      Array.from({ length: 100 }, () => http2Frame('window', { stream: 0, payload: uint32(1) })),
    );
    socket.write(http2Frame('headers', { flags: FLAG.endHeaders, payload: http2Head('POST', '/a') }));
    let most = 0;
    await eventually('the connection is ended', async () => {
      if (!socket.destroyed) socket.write(Buffer.concat([part(1, 1), much]));
      most = Math.max(most, memory.bodies.total);
      return counts.http2Floods === 1;
    });
    expect(most).toBeLessThan(MB);
    expect(ofType(frames, 'headers')).toEqual([]);
    await eventually('nothing is counted', async () => memory.bodies.total === 0);
  });
});
