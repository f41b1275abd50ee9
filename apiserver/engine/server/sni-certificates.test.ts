import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import { issueCertificate, makeCa } from '../../../shared/certs/certificate';
import { eventually } from '../../../shared/testing/eventually';
import type { TestServer } from './testing/client';
import { startServer, textAnswer } from './testing/client';

const ca = makeCa({ commonName: 'test', validDays: 1 });
const dir = mkdtempSync(path.join(tmpdir(), 'sni-'));
let running: TestServer;

function write(file: string, host: string): { readonly certFile: string; readonly keyFile: string } {
  const made = issueCertificate(ca, { commonName: host, hosts: [host], usages: ['server'], validDays: 1 });
  const files = { certFile: path.join(dir, `${file}.crt`), keyFile: path.join(dir, `${file}.key`) };
  for (const [name, pem] of [
    [files.keyFile, made.privateKeyPem],
    [files.certFile, made.certificatePem],
  ] as const) {
    writeFileSync(`${name}.new`, pem);
    renameSync(`${name}.new`, name);
  }
  return files;
}

beforeAll(async () => {
  running = await startServer(
    async (exchange) => {
      exchange.answer = textAnswer('served');
      return Promise.resolve();
    },
    {
      certificatePollMs: 20,
      ciphers: 'TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES256-GCM-SHA384',
      sniCertificates: [
        { files: write('own', 'own.example.com'), names: [] },
        { files: write('wild', 'wild.example.org'), names: ['*.example.org', 'example.org'] },
        { files: write('late', 'late.example.org'), names: ['a.example.org', 'b.example.net'] },
      ],
    },
  );
});
afterAll(async () => {
  await running.stop();
  rmSync(dir, { recursive: true });
});

async function open(servername: string | undefined, maxVersion?: 'TLSv1.2'): Promise<TLSSocket> {
  const socket = connect({
    port: running.port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ...(servername === undefined ? {} : { servername }),
    ...(maxVersion === undefined ? {} : { maxVersion }),
  });
  await once(socket, 'secureConnect');
  return socket;
}

async function nameShown(servername: string | undefined): Promise<string> {
  const socket = await open(servername);
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}

test('a client gets the certificate of its SNI name, else the main one', async () => {
  expect(await nameShown('own.example.com')).toBe('own.example.com');
  expect(await nameShown('OWN.example.com')).toBe('own.example.com');
  expect(await nameShown('x.example.org')).toBe('wild.example.org');
  expect(await nameShown('example.org')).toBe('wild.example.org');
  expect(await nameShown('b.example.net')).toBe('late.example.org');
  // An exact name counts before a wildcard, and a wildcard stands for one label.
  expect(await nameShown('a.example.org')).toBe('late.example.org');
  const main = await nameShown(undefined);
  expect(main).not.toContain('example');
  expect(await nameShown('x.y.example.org')).toBe(main);
});

test('only the configured cipher suites are offered, with every certificate', async () => {
  for (const name of [undefined, 'own.example.com']) {
    const socket = await open(name, 'TLSv1.2');
    expect(socket.getCipher().name).toBe('ECDHE-ECDSA-AES256-GCM-SHA384');
    socket.destroy();
  }
});

test('a renewed pair of files is reloaded', async () => {
  write('own', 'new.example.com');
  await eventually('it is shown', async () => (await nameShown('new.example.com')) === 'new.example.com');
  expect(await nameShown('own.example.com')).not.toBe('own.example.com');
});
