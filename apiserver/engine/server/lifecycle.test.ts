import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { issueCertificate, makeCa } from '../../../shared/certs/certificate';
import { keepServingCertificate } from '../../../shared/certs/keep-serving-certificate';
import type { Log } from '../../../shared/log/log';
import { silentLog } from '../../../shared/log/log';
import { WATCH_END_SPREAD_MS } from './limits';
import { createServer } from './server';
import type { TestServer } from './testing/client';
import { ALL_BUT_TIMEOUTS } from './testing/fake-timeouts';
import { always, deferred, readToEnd, startServer, textAnswer } from './testing/client';

let running: TestServer | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function start(...args: Parameters<typeof startServer>): Promise<TestServer> {
  running = await startServer(...args);
  return running;
}

const DAY_MS = 86_400_000;
const LONG = { delayMs: 0, graceMs: 60_000 };

async function* eventAndBookmark(ended: Promise<void>): AsyncGenerator<Buffer> {
  yield Buffer.from('event;');
  await ended;
  yield Buffer.from('bookmark');
}

function newPair(commonName: string) {
  const ca = makeCa({ commonName: 'another ca', validDays: 1 });
  return issueCertificate(ca, {
    commonName,
    hosts: ['localhost', '127.0.0.1'],
    usages: ['server'],
    validDays: 1,
  });
}

async function served({ connect }: TestServer): Promise<X509Certificate> {
  const socket = await connect();
  const raw = socket.getPeerCertificate().raw;
  socket.destroy();
  return new X509Certificate(raw);
}

async function servedName(test: TestServer): Promise<string> {
  return (await served(test)).subject;
}

async function servedUntil(test: TestServer): Promise<number> {
  return Date.parse((await served(test)).validTo);
}

function logOf(onSaid: (message: string) => void): Log {
  const say = (_fields: object, message: string): void => onSaid(message);
  return { ...silentLog, info: say, warn: say };
}

function renameOnce(certFile: string): void {
  try {
    renameSync(`${certFile}.new`, certFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Lets the delay of a shutdown that begins now take until `end` is called. */
function heldDelay(delayMs: number): { readonly end: () => Promise<void> } {
  jest.useFakeTimers({ doNotFake: [...ALL_BUT_TIMEOUTS] });
  return {
    end: async () => {
      await jest.advanceTimersByTimeAsync(delayMs);
      jest.useRealTimers();
    },
  };
}

describe('closing', () => {
  test('a request in flight finishes, and its connection closes', async () => {
    const entered = deferred();
    const go = deferred();
    const { server, send } = await start(async (exchange) => {
      entered.resolve();
      await go.promise;
      exchange.answer = textAnswer('finished');
    });
    const reply = send({});
    await entered.promise;
    expect(server.inFlight()).toBe(1);
    const closed = server.close(LONG);
    go.resolve();
    expect(await reply).toMatchObject({ code: 200, text: 'finished', headers: { connection: 'close' } });
    await closed;
    expect(server.inFlight()).toBe(0);
    await expect(send({})).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('readiness fails first, and new connections are served during the delay', async () => {
    let isReady = true;
    const { server, send, connect } = await start(
      always(() => textAnswer(isReady ? 'ready' : 'leaving')),
      { onShutdown: () => (isReady = false) },
    );
    expect(await send({})).toMatchObject({ text: 'ready' });
    const delay = heldDelay(300);
    const closed = server.close({ delayMs: 300, graceMs: 60_000 });
    expect(await send({})).toMatchObject({ text: 'leaving', headers: { connection: 'keep-alive' } });
    (await connect()).destroy();
    await delay.end();
    await closed;
    await expect(connect()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('in the second half of the delay answers close their connections, so that no request races with the close', async () => {
    const { server, send } = await start(always(() => textAnswer('served')));
    const delay = heldDelay(150);
    const closed = server.close({ delayMs: 300, graceMs: 60_000 });
    const early = await send({});
    await jest.advanceTimersByTimeAsync(150);
    const late = await send({});
    await delay.end();
    await closed;
    expect(early).toMatchObject({ code: 200, headers: { connection: 'keep-alive' } });
    expect(late).toMatchObject({ code: 200, headers: { connection: 'close' } });
  });

  test('watches end by the hook, and their streams end cleanly', async () => {
    const end = deferred();
    const { server, send } = await start(
      always(() => ({
        code: 200,
        headers: {},
        body: eventAndBookmark(end.promise),
      })),
      {
        endWatches: async () => {
          end.resolve();
          await Promise.resolve();
        },
      },
    );
    const reply = send({});
    while (server.inFlight() === 0) await new Promise(setImmediate);
    await server.close(LONG);
    expect(await reply).toMatchObject({ code: 200, text: 'event;bookmark' });
  });

  test('watches end spread over the shutdown delay, and later ones are refused', async () => {
    const asked: object[] = [];
    const { server } = await start(
      always(() => textAnswer('')),
      {
        endWatches: async (how) => {
          asked.push(how);
          await Promise.resolve();
        },
      },
    );
    await server.close({ delayMs: 30, graceMs: 60_000 });
    expect(asked).toEqual([
      { spreadMs: 30, refuseNew: false },
      { spreadMs: WATCH_END_SPREAD_MS, refuseNew: true },
    ]);
  });

  test('during the delay the end of a watch closes its connection, a plain answer does not', async () => {
    const end = deferred();
    const leaving = deferred();
    const { server, send, agent } = await start(
      always(({ path: asked }) =>
        asked === '/plain'
          ? textAnswer('plain')
          : { code: 200, headers: {}, body: eventAndBookmark(end.promise), messages: 'lines' },
      ),
      { onShutdown: () => leaving.resolve() },
    );
    const watching = send({ path: '/watch' });
    while (server.inFlight() === 0) await new Promise(setImmediate);
    const delay = heldDelay(500);
    const closed = server.close({ delayMs: 500, graceMs: 60_000 });
    await leaving.promise;
    const gone = Object.values(agent.sockets).flatMap((sockets) =>
      (sockets ?? []).map((each) => once(each, 'close')),
    );
    end.resolve();
    expect(await watching).toMatchObject({ code: 200, text: 'event;bookmark' });
    expect(gone).toHaveLength(1);
    await Promise.all(gone);
    expect(await send({ path: '/plain' })).toMatchObject({ headers: { connection: 'keep-alive' } });
    await delay.end();
    await closed;
  });

  test('requests that exceed the grace period get 503, and those that ignore it are cut', async () => {
    const entered = [deferred(), deferred()];
    const { server, send, port } = await start(async (exchange) => {
      entered[exchange.path === '/deaf' ? 1 : 0]?.resolve();
      if (exchange.path === '/deaf') await new Promise(() => undefined);
      await once(exchange.signal, 'abort');
      throw exchange.signal.reason as Error;
    });
    const listening = send({ path: '/' });
    const deaf = send({ path: '/deaf', agent: false, port, rejectUnauthorized: false });
    const deafEnd = deaf.catch((error: unknown) => error);
    await Promise.all(entered.map(async ({ promise }) => promise));
    await server.close({ delayMs: 0, graceMs: 20 });
    expect(await listening).toMatchObject({ code: 503, headers: { 'retry-after': '1' } });
    expect(await deafEnd).toMatchObject({ code: 'ECONNRESET' });
  });

  test('idle connections, with or without a request, do not delay the close', async () => {
    const { server, send, connect } = await start(always(() => textAnswer('')));
    await send({});
    const silent = await connect();
    const gone = once(silent, 'close');
    await server.close(LONG);
    await gone;
    expect(server.inFlight()).toBe(0);
  });

  test('closing twice waits for the first', async () => {
    const { server, connect } = await start(always(() => textAnswer('')));
    await Promise.all([server.close(LONG), server.close(LONG)]);
    await expect(connect()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('the certificate', () => {
  test('a new one is reloaded without a restart, an invalid one is logged and the old one stays', async () => {
    const said: string[] = [];
    let heard = deferred();
    const log = logOf((message) => {
      said.push(message);
      heard.resolve();
    });
    const test = await start(
      always(() => textAnswer('')),
      { log, certificatePollMs: 5 },
    );
    expect(await servedName(test)).toBe('CN=orch-apiserver');

    writeFileSync(test.files.certFile, 'rubbish');
    await heard.promise;
    expect(said).toEqual([expect.stringContaining('the old one stays in use')]);
    expect(await servedName(test)).toBe('CN=orch-apiserver');

    const pair = newPair('fresh');
    writeFileSync(`${test.files.keyFile}.new`, pair.privateKeyPem);
    writeFileSync(`${test.files.certFile}.new`, pair.certificatePem);
    renameSync(`${test.files.keyFile}.new`, test.files.keyFile);
    while (said.at(-1) !== 'serving certificate reloaded') {
      heard = deferred();
      renameOnce(test.files.certFile);
      await heard.promise;
    }
    expect(await servedName(test)).toBe('CN=fresh');
  });

  test('the self-signed one is renewed before it expires without a restart', async () => {
    const test = await start(
      always(() => textAnswer('')),
      { certificatePollMs: 5 },
    );
    const before = await servedUntil(test);
    const clock = { now: () => Date.now() + 340 * DAY_MS };
    const stop = new AbortController();
    const dir = path.dirname(test.files.certFile);
    keepServingCertificate({ dir, hosts: ['localhost'], clock, checkMs: 2 }, stop.signal);
    let after = before;
    while (after === before) after = await servedUntil(test);
    stop.abort();
    expect(after - before).toBeGreaterThan(300 * DAY_MS);
  });

  test('a start without a usable certificate fails and names the file', async () => {
    const server = createServer({
      bindAddress: '127.0.0.1',
      port: 0,
      certificate: { certFile: '/nowhere/tls.crt', keyFile: '/nowhere/tls.key' },
      minTlsVersion: 'TLSv1.2',
      log: silentLog,
      pipeline: async () => Promise.resolve(),
    });
    await expect(server.listen()).rejects.toThrow('/nowhere/tls.crt');
  });

  test.each(['0.0.0.0', '::'])('the bind address %s serves both families', async (bindAddress) => {
    const { files } = await start(always(() => textAnswer('')));
    const peers: string[] = [];
    const server = createServer({
      bindAddress,
      port: 0,
      certificate: files,
      minTlsVersion: 'TLSv1.2',
      log: silentLog,
      pipeline: always(({ remoteAddress }) => {
        peers.push(remoteAddress);
        return textAnswer('');
      }),
    });
    const { port } = await server.listen();
    for (const host of ['127.0.0.1', '::1']) {
      const socket = connectTls({ host, port, rejectUnauthorized: false });
      socket.end('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      await readToEnd(socket);
    }
    await server.close({ delayMs: 0, graceMs: 0 });
    expect(peers).toEqual(['127.0.0.1', '::1']);
  });

  test('a port in use fails the start', async () => {
    const { files, port } = await start(always(() => textAnswer('')));
    const second = createServer({
      bindAddress: '127.0.0.1',
      port,
      certificate: files,
      minTlsVersion: 'TLSv1.2',
      log: silentLog,
      pipeline: async () => Promise.resolve(),
    });
    await expect(second.listen()).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
