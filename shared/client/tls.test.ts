import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { createServer } from 'node:tls';
import { issueCertificate, makeCa } from '../certs/certificate';
import * as der from '../certs/der';
import type { TestCertificate, TestCertificateOptions } from '../certs/testing/test-certificates';
import { CLIENT_AUTH, SERVER_AUTH, testAuthority, testCertificate } from '../certs/testing/test-certificates';
import { PATIENCE_MS } from '../testing/eventually';
import { createClient } from './client';
import type { FakeApiServer } from './testing/fake-api-server';
import { createFakeApiServer } from './testing/fake-api-server';
import { NODES } from './testing/fake-resources';
import type { TransportOptions } from './transport';
import { createTransport } from './transport';

const validDays = 1;
const ca = makeCa({ commonName: 'test', validDays });
const user = issueCertificate(ca, { commonName: 'user', usages: ['client'], validDays });
const credentials = { cert: user.certificatePem, key: user.privateKeyPem };

let server: FakeApiServer;

beforeAll(async () => {
  const { certificatePem: cert, privateKeyPem: key } = issueCertificate(ca, {
    commonName: 'api.example',
    hosts: ['api.example'],
    usages: ['server'],
    validDays,
  });
  server = await createFakeApiServer({ tls: { cert, key, ca: ca.certificatePem } });
});
afterAll(async () => server.close());

test('a client certificate opens the listener of a server whose certificate matches the requested name', async () => {
  const client = createClient({
    ...credentials,
    server: server.url,
    ca: ca.certificatePem,
    tlsServerName: 'api.example',
  });
  expect(await client.list(NODES)).toMatchObject({ kind: 'NodeList', items: [] });
  client.close();
});

test('a failed handshake is reported, and a write that it stopped has a known outcome', async () => {
  const wrongName = createClient({ ...credentials, server: server.url, ca: ca.certificatePem });
  await expect(wrongName.create(NODES, { metadata: { name: 'n' } })).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'ECERTIFICATE',
    outcomeUnknown: false,
  });
  const noTrust = createClient({ ...credentials, server: server.url, tlsServerName: 'api.example' });
  await expect(noTrust.list(NODES)).rejects.toMatchObject({
    name: 'ConnectionError',
    message: expect.stringContaining('x509: certificate signed by unknown authority') as string,
  });
});

const HOST = 'a.example';
const NAMES = ['2.5.29.17', der.sequence(der.implicit(2, Buffer.from(HOST))), false] as const;
const HOUR_MS = 3_600_000;
const root = testAuthority({ commonName: 'root' });
const twin = testAuthority({ commonName: 'root' });
const middle = testAuthority({ commonName: 'middle', issuer: root });
const nameless = testCertificate({ authority: {} });

function served(options: TestCertificateOptions): TestCertificate {
  return testCertificate({ extendedUsages: [SERVER_AUTH], extensions: [NAMES], ...options });
}

/** Runs a request against a server that answers before it is asked, and returns the answer or the error, and what the server got. */
async function request(
  chain: readonly TestCertificate[],
  trust: Pick<TransportOptions, 'ca' | 'insecureSkipTlsVerify' | 'tlsServerName'>,
): Promise<{ readonly outcome: string; readonly received: string }> {
  let received = '';
  const sockets: TLSSocket[] = [];
  const [leaf] = chain;
  const listener = createServer(
    { key: leaf?.keyPem, cert: chain.map(({ pem }) => pem).join('') },
    (socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1');
      });
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi');
    },
  );
  listener.on('tlsClientError', () => undefined);
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const transport = createTransport({
    server: `https://127.0.0.1:${String(port)}`,
    tlsServerName: HOST,
    ...trust,
  });
  try {
    const headers = { authorization: 'Bearer secret' };
    const { body } = await transport.send({ method: 'GET', path: '/', headers }, { timeoutMs: PATIENCE_MS });
    return { outcome: body.toString(), received };
  } catch (error) {
    return { outcome: (error as Error).message, received };
  } finally {
    transport.close();
    // Not by `once`, which rejects when the refused connection is reset.
    const closed = sockets.map(
      async (socket) =>
        new Promise<void>((resolve) => void (socket.closed ? resolve() : socket.once('close', resolve))),
    );
    await Promise.all(closed);
    listener.close();
  }
}

test.each<[string, readonly TestCertificate[], string]>([
  ['with its intermediate', [served({ issuer: middle }), middle], root.pem],
  ['without subject and issuer', [served({ issuer: nameless })], nameless.pem],
  ['of a trusted intermediate', [served({ issuer: middle })], middle.pem],
  ['of the second of two authorities of one name', [served({ issuer: twin })], root.pem + twin.pem],
  ['named like its authority', [served({ commonName: 'root', issuer: root })], root.pem],
  ['that is trusted itself', [served({ commonName: 'self' })], ''],
  [
    'beside a malformed authority',
    [served({ issuer: root })],
    `-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n${root.pem}`,
  ],
])('a server certificate %s is accepted', async (_what, chain, authorities) => {
  expect(await request(chain, { ca: authorities || (chain[0]?.pem ?? '') })).toMatchObject({ outcome: 'hi' });
});

const limited = testAuthority({
  issuer: root,
  extensions: [
    [
      '2.5.29.30',
      der.sequence(der.explicit(0, der.sequence(der.implicit(2, Buffer.from('b.example'))))),
      true,
    ],
  ],
});

test.each<[string, readonly TestCertificate[], Partial<TransportOptions>, RegExp]>([
  [
    'of an unknown authority',
    [served({ issuer: testAuthority() })],
    {},
    /x509: certificate signed by unknown authority$/,
  ],
  [
    'of another authority of the same name',
    [served({ issuer: twin })],
    {},
    /signed by unknown authority \(possibly/,
  ],
  [
    'with a common name alone',
    [served({ commonName: HOST, extensions: [], issuer: root })],
    {},
    /x509: certificate relies on legacy Common Name field, use SANs instead$/,
  ],
  [
    'for another name',
    [served({ issuer: root })],
    { tlsServerName: 'b.example' },
    /x509: certificate is valid for a.example, not b.example$/,
  ],
  [
    'that has expired',
    [served({ issuer: root, notAfterMs: Date.now() - HOUR_MS, notBeforeMs: 0 })],
    {},
    /x509: certificate has expired or is not yet valid: current time/,
  ],
  [
    'for clients',
    [served({ issuer: root, extendedUsages: [CLIENT_AUTH] })],
    {},
    /x509: certificate specifies an incompatible key usage$/,
  ],
  [
    'outside the limits of its authority',
    [served({ issuer: limited }), limited],
    {},
    /not authorized to sign for this name/,
  ],
  [
    'without a usable authority',
    [served({ issuer: root })],
    { ca: 'none' },
    /unable to load root certificates: unable to parse bytes as PEM block$/,
  ],
  [
    'by the authorities of the system',
    [served({ issuer: root })],
    { ca: undefined } as object,
    /x509: certificate signed by unknown authority$/,
  ],
])('a server certificate %s is refused before anything is sent or read', async (_what, chain, trust, why) => {
  const { outcome, received } = await request(chain, { ca: root.pem, ...trust });
  expect(outcome).toMatch(why);
  expect(received).toBe('');
});

test('without verification any certificate is accepted', async () => {
  const chain = [testCertificate({ commonName: 'x' })];
  expect(await request(chain, { insecureSkipTlsVerify: true })).toMatchObject({ outcome: 'hi' });
});

test('without authorities those of the system are trusted, and those of NODE_EXTRA_CA_CERTS', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'orch-tls-'));
  const before = process.env['NODE_EXTRA_CA_CERTS'];
  try {
    const file = path.join(dir, 'ca.crt');
    writeFileSync(file, root.pem);
    process.env['NODE_EXTRA_CA_CERTS'] = file;
    expect(await request([served({ issuer: root })], {})).toMatchObject({ outcome: 'hi' });
  } finally {
    if (before === undefined) delete process.env['NODE_EXTRA_CA_CERTS'];
    else process.env['NODE_EXTRA_CA_CERTS'] = before;
    rmSync(dir, { recursive: true });
  }
});
