import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { createServer } from 'node:tls';
import { issueCertificate, makeCa } from '../certs/certificate';
import { eventually } from '../testing/eventually';
import { openRedis } from './redis';

test('the password is sent to a verified server only, also after several tries', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'orch-redis-'));
  const [ca, other] = ['ca', 'other'].map((commonName) => {
    const made = makeCa({ commonName, validDays: 1 });
    writeFileSync(path.join(dir, commonName), made.certificatePem);
    return made;
  });
  if (ca === undefined || other === undefined) throw new Error('there are two');
  const issued = issueCertificate(ca, {
    commonName: 'redis',
    hosts: ['127.0.0.1'],
    usages: ['server'],
    validDays: 1,
  });
  let received = '';
  const sockets: TLSSocket[] = [];
  const server = createServer({ cert: issued.certificatePem, key: issued.privateKeyPem }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `rediss://:secret@127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const untrusting = openRedis({ url, caFile: path.join(dir, 'other') });
  const errors: string[] = [];
  untrusting.on('error', ({ message }: Error) => errors.push(message));
  await eventually('it has tried twice', async () =>
    Promise.resolve(errors.length > 1 && sockets.length > 1),
  );
  untrusting.disconnect();
  expect(errors[0]).toBe('x509: certificate signed by unknown authority');
  expect(received).toBe('');
  const trusting = openRedis({ url, caFile: path.join(dir, 'ca') });
  await eventually('it has sent the password', async () => Promise.resolve(received.includes('secret')));
  trusting.disconnect();
  for (const socket of sockets) socket.destroy();
  server.close();
  rmSync(dir, { recursive: true });
});
