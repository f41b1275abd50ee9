import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { issueCertificate, makeCa } from '../../../shared/certs/certificate';
import { MetricSet } from '../../../shared/metrics/metric-set';
import { eventually } from '../../../shared/testing/eventually';
import { addCertificateMetrics } from './add-certificate-metrics';

test('the certificate that a server presents is reported, also an expired one, to clients that show theirs', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'orch-certificates-'));
  const ca = makeCa({ commonName: 'ca', validDays: 1 });
  const past = { now: () => Date.now() - 90 * 86_400_000 };
  const old = makeCa({ commonName: 'old', validDays: 2, clock: past });
  const served = issueCertificate(old, {
    commonName: 'etcd',
    hosts: ['localhost'],
    usages: ['server'],
    validDays: 2,
    clock: past,
  });
  const client = issueCertificate(ca, { commonName: 'client', usages: ['client'], validDays: 1 });
  const files = { certFile: path.join(dir, 'tls.crt'), keyFile: path.join(dir, 'tls.key') };
  writeFileSync(files.certFile, client.certificatePem);
  writeFileSync(files.keyFile, client.privateKeyPem);
  let connections = 0;
  const server = createServer(
    {
      cert: served.certificatePem,
      key: served.privateKeyPem,
      ca: ca.certificatePem,
      requestCert: true,
      rejectUnauthorized: true,
    },
    (socket) => socket.on('error', () => undefined).resume(),
  );
  // The client may leave before the handshake ends on this side.
  server
    .on('tlsClientError', () => undefined)
    .on('connection', () => {
      connections += 1;
    });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const metrics = new MetricSet();
  addCertificateMetrics(metrics, [
    { name: 'etcd-server a', server: `https://127.0.0.1:${String(port)}`, client: files },
    { name: 'etcd-server gone', server: 'https://127.0.0.1:1' },
    { name: 'serving', file: files.certFile },
  ]);
  const read = async (): Promise<string> => (await metrics.exposition()).toString();
  await eventually('the certificate of the server is known', async () =>
    (await read()).includes('etcd-server a'),
  );
  const text = await read();
  const [, until = ''] = /\{name="etcd-server a"\} (\S+)/u.exec(text) ?? [];
  expect(Number(until)).toBeLessThan(Date.now() / 1_000);
  expect(text).toContain('{name="serving"}');
  expect(text).not.toContain('gone');
  // Further scrapes do not connect again.
  expect(connections).toBe(1);
  server.close();
  rmSync(dir, { recursive: true });
});
