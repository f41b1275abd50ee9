import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import type { TLSSocket } from 'node:tls';
import path from 'node:path';
import { issueCertificate, makeCa } from '../../../shared/certs/certificate';
import { silentLog } from '../../../shared/log/log';
import type { AccessRequest } from './access';
import type { Listener, ListenerOptions } from './listener';
import { ListenerError, openListener } from './listener';
import { servingCertificates } from './serving-certificate';
import { createMetrics } from './metrics';

const HOST = '127.0.0.1';
const selfSigned = servingCertificates({ certFile: '', keyFile: '', bindAddress: HOST });
const metrics = createMetrics({ process: false });

let listener: Listener;
const asked: AccessRequest[] = [];
async function open(options: Partial<ListenerOptions> = {}): Promise<Listener> {
  asked.length = 0;
  listener = await openListener({
    bindAddress: HOST,
    port: 0,
    certificate: selfSigned,
    access: async (each) => {
      asked.push(each);
      return Promise.resolve({ code: 200, message: '' });
    },
    metrics,
    log: silentLog,
    ...options,
  });
  return listener;
}
afterEach(() => listener.close());

test.each(['0.0.0.0', '::'])('the bind address %s serves both families', async (bindAddress) => {
  const { port } = await open({ bindAddress });
  for (const host of ['127.0.0.1', '::1']) {
    const socket = connect({ host, port });
    await expect(once(socket, 'connect')).resolves.toEqual([]);
    socket.destroy();
  }
});

interface Got {
  readonly code: number | undefined;
  readonly text: string;
  /** The name in the certificate of the server. */
  readonly name: string;
}

async function call(url: string, method = 'GET', headers: Record<string, string> = {}): Promise<Got> {
  const trusted = selfSigned().cert;
  return new Promise((resolve, reject) => {
    const options = { host: HOST, port: listener.port, path: url, method, headers, agent: false } as const;
    const sent = request({ ...options, ca: trusted, rejectUnauthorized: false }, (response) => {
      const parts: Buffer[] = [];
      const socket = response.socket as TLSSocket;
      const name = String(socket.getPeerCertificate().subject.CN);
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        resolve({ code: response.statusCode, text: Buffer.concat(parts).toString(), name });
      });
    });
    sent.on('error', reject).end();
  });
}

test('it serves health and metrics over TLS', async () => {
  await open();
  metrics.noteLeading('the-lease', true);
  metrics.queueOf('namespace').add('x');
  expect(await call('/healthz')).toMatchObject({ code: 200, text: 'ok' });
  const { code, text } = await call('/metrics?x=y');
  expect(code).toBe(200);
  expect(text).toContain('leader_election_master_status{name="the-lease"} 1\n');
  expect(text).toContain('workqueue_depth{name="namespace"} 1\n');
});

test('a generated certificate is valid for the bound address', async () => {
  await open();
  const target = { host: HOST, port: listener.port, path: '/healthz', ca: selfSigned().cert, agent: false };
  const code = await new Promise((resolve, reject) => {
    const sent = request(target, (response) => resolve(response.resume().statusCode));
    sent.on('error', reject).end();
  });
  expect(code).toBe(200);
});

test('the access check gets every path and token, and its refusal is returned', async () => {
  await open({
    access: async (each) => {
      asked.push(each);
      return Promise.resolve({ code: 403, message: 'no' });
    },
  });
  expect(await call('/metrics', 'GET', { authorization: 'Bearer abc' })).toMatchObject({
    code: 403,
    text: 'no',
  });
  expect((await call('/nowhere')).code).toBe(403);
  expect(asked).toEqual([
    { verb: 'get', path: '/metrics', token: 'abc' },
    { verb: 'get', path: '/nowhere', token: '' },
  ]);
});

test('other paths are 404, and writes are refused', async () => {
  await open();
  expect((await call('/nowhere')).code).toBe(404);
  expect((await call('/metrics', 'POST')).code).toBe(405);
  expect(await call('/healthz', 'HEAD')).toMatchObject({ code: 200, text: '' });
});

test('an address in use is reported', async () => {
  const first = await open();
  const again: unknown = await open({ port: first.port }).catch((error: unknown) => error);
  expect(again).toBeInstanceOf(ListenerError);
  expect(again).toMatchObject({
    isTaken: true,
    message: expect.stringContaining('address already in use') as string,
  });
});

test('closing ends idle connections', async () => {
  await open();
  const socket = connect(listener.port, HOST);
  await new Promise((resolve) => socket.once('connect', resolve));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined);
  listener.close();
  await closed;
  expect(socket.destroyed).toBe(true);
});

describe('with certificate files', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'listener-'));
  const [certFile, keyFile] = [path.join(dir, 'tls.crt'), path.join(dir, 'tls.key')];
  afterAll(() => rmSync(dir, { recursive: true }));
  const ca = makeCa({ commonName: 'ca', validDays: 1 });
  const write = (commonName: string): void => {
    const leaf = issueCertificate(ca, { commonName, hosts: [HOST], usages: ['server'], validDays: 1 });
    writeFileSync(certFile, leaf.certificatePem);
    writeFileSync(keyFile, leaf.privateKeyPem);
  };
  const certificate = servingCertificates({ certFile, keyFile, bindAddress: HOST });

  test('a renewed certificate is used, and an unusable one is reported once and keeps the old one', async () => {
    write('old');
    const logged: string[] = [];
    const log = { ...silentLog, warn: (_fields: object, message: string) => void logged.push(message) };
    await open({ certificate, certificatePollMs: 5, log });
    expect((await call('/healthz')).name).toBe('old');
    writeFileSync(certFile, 'rubbish');
    while (logged.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect((await call('/healthz')).name).toBe('old');
    expect((await call('/healthz')).name).toBe('old');
    expect(logged).toHaveLength(1);
    write('new');
    while ((await call('/healthz')).name !== 'new');
  });

  test('a certificate and key that do not match are refused by name', () => {
    write('x');
    writeFileSync(keyFile, makeCa({ commonName: 'y', validDays: 1 }).privateKeyPem);
    expect(certificate).toThrow(
      `--tls-cert-file ${certFile}: the private key does not match the certificate`,
    );
  });
});
