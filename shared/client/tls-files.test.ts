import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import type { KeyedCertificate } from '../certs/certificate';
import { issueCertificate, makeCa } from '../certs/certificate';
import type { Log } from '../log/log';
import { silentLog } from '../log/log';
import type { Connection } from './connection';
import { createConnection } from './connection';
import { loadKubeconfig } from './kubeconfig';

const validDays = 1;
const authorities = ['first', 'second'].map((commonName) => makeCa({ commonName, validDays }));
const [first, second] = authorities as [KeyedCertificate, KeyedCertificate];
const clients = makeCa({ commonName: 'clients', validDays });
const alice = issueCertificate(clients, { commonName: 'alice', usages: ['client'], validDays });
const bob = issueCertificate(clients, { commonName: 'bob', usages: ['client'], validDays });

let dir: string;
let server: Server;
let connection: Connection;
let nowMs = 0;
/** The common name of the client certificate, and a number of the connection, for each request. */
const seen: string[] = [];
const logged: string[] = [];
const log: Log = {
  ...silentLog,
  info: (_fields, message) => logged.push(message),
  warn: (_fields, message) => logged.push(message),
};

function served(ca: KeyedCertificate): { readonly cert: string; readonly key: string } {
  const issued = issueCertificate(ca, {
    commonName: 'x',
    hosts: ['127.0.0.1'],
    usages: ['server'],
    validDays,
  });
  return { cert: issued.certificatePem, key: issued.privateKeyPem };
}

function write(name: string, text: string): void {
  writeFileSync(path.join(dir, name), text);
}

beforeEach(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'tls-files-'));
  const sockets = new Map<unknown, number>();
  server = createServer(
    { ...served(first), requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const socket = request.socket as TLSSocket;
      sockets.set(socket, sockets.get(socket) ?? sockets.size);
      const subject = socket.getPeerX509Certificate()?.subject ?? 'none';
      seen.push(`${subject} ${String(sockets.get(socket))}`);
      response.end('{}');
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  write('ca.crt', first.certificatePem);
  write('own.crt', alice.certificatePem);
  write('own.key', alice.privateKeyPem);
  const { port } = server.address() as AddressInfo;
  const cluster = { server: `https://127.0.0.1:${String(port)}`, 'certificate-authority': 'ca.crt' };
  const user = { 'client-certificate': 'own.crt', 'client-key': 'own.key' };
  write(
    'config',
    JSON.stringify({
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  );
  const { client } = loadKubeconfig({ path: path.join(dir, 'config') });
  connection = createConnection({ ...client, log }, { now: () => nowMs });
  seen.length = 0;
  logged.length = 0;
});
afterEach(async () => {
  connection.close();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  rmSync(dir, { recursive: true });
});

/** The connection is free in the next turn of the event loop. */
async function ask(): Promise<void> {
  await connection.json({ method: 'GET', path: '/' });
  await new Promise(setImmediate);
}

test('a renewed certificate and key are used by the next request, on a new connection', async () => {
  await ask();
  await ask();
  write('own.crt', bob.certificatePem);
  write('own.key', bob.privateKeyPem);
  await ask();
  nowMs += 1_000;
  await ask();
  await ask();
  expect(seen).toEqual(['CN=alice 0', 'CN=alice 0', 'CN=alice 0', 'CN=bob 1', 'CN=bob 1']);
  expect(logged).toEqual(['client TLS files reloaded']);
});

test('a certificate without its key leaves the old pair in use, and is logged once', async () => {
  await ask();
  write('own.crt', bob.certificatePem);
  for (let call = 0; call < 2; call += 1) {
    nowMs += 1_000;
    await ask();
  }
  expect(seen).toEqual(['CN=alice 0', 'CN=alice 0', 'CN=alice 0']);
  expect(logged).toEqual(['failed to reload the client TLS files; the old ones stay in use']);
  write('own.key', bob.privateKeyPem);
  nowMs += 1_000;
  await ask();
  expect(seen.at(-1)).toBe('CN=bob 1');
});

test('a renewed authority is trusted by the next connection, and the old one no more', async () => {
  await ask();
  server.setSecureContext(served(second));
  server.closeAllConnections();
  await expect(ask()).rejects.toThrow('x509: certificate signed by unknown authority');
  write('ca.crt', 'half');
  nowMs += 1_000;
  await expect(ask()).rejects.toThrow('x509: certificate signed by unknown authority');
  write('ca.crt', second.certificatePem);
  nowMs += 1_000;
  await ask();
  expect(seen).toEqual(['CN=alice 0', 'CN=alice 1']);
});
