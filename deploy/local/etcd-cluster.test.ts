import { readFileSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureEtcdCertificates } from './etcd-certificates';
import { startEtcdCluster } from './etcd-cluster';

interface Shown {
  readonly ca: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

/** The status code for a client with these credentials, or the connection error. */
async function status(url: string, { ca, certFile, keyFile }: Shown): Promise<string> {
  const own =
    certFile === undefined || keyFile === undefined
      ? {}
      : { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  return new Promise((resolve) => {
    const options = { ca: readFileSync(ca), ...own, agent: false, method: 'POST' };
    const asked = request(new URL('/v3/maintenance/status', url), options, (response) => {
      response.resume();
      resolve(String(response.statusCode));
    });
    asked.once('error', ({ message }) => resolve(message));
    asked.end('{}');
  });
}

describe('startEtcdCluster', () => {
  test('a set of three has one leader, and elects another when the leader is killed', async () => {
    const cluster = await startEtcdCluster({ size: 3 });
    try {
      expect(cluster.endpoints).toHaveLength(3);
      const first = await cluster.leader();
      await first.kill();
      expect(first.pid).toBeUndefined();
      const second = await cluster.leader();
      expect(second.name).not.toBe(first.name);
      await first.start();
      await first.healthy();
      expect(first.pid).toBeGreaterThan(0);
    } finally {
      await cluster.stop();
    }
    expect(cluster.members.map((member) => member.pid)).toEqual([undefined, undefined, undefined]);
  });

  test('members and clients authenticate with certificates of one authority, and others are refused', async () => {
    const dir = await mkdtemp(path.join(tmpdir(), 'orch-etcd-tls-'));
    const files = ensureEtcdCertificates(path.join(dir, 'certs'));
    expect(ensureEtcdCertificates(path.join(dir, 'certs'))).toEqual(files);
    const strangers = ensureEtcdCertificates(path.join(dir, 'strangers'));
    const cluster = await startEtcdCluster({ size: 3, tls: { ...files, clientCertAuth: true } });
    try {
      await cluster.leader();
      const [url = ''] = cluster.endpoints;
      expect(url).toMatch(/^https:/);
      const ca = files.caFile;
      expect(await status(url, { ca, ...files.client })).toBe('200');
      expect(await status(url, { ca, ...strangers.client })).toMatch(/alert|reset/);
      expect(await status(url, { ca })).toMatch(/alert|reset/);
      for (const { keyFile } of [files, files.client]) expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
    } finally {
      await cluster.stop();
      await rm(dir, { recursive: true });
    }
  });

  test('the error for a missing program names its package', async () => {
    const program = process.env['PATH'];
    process.env['PATH'] = '/nonexistent';
    try {
      await expect(startEtcdCluster({ size: 1 })).rejects.toThrow('etcd-server');
    } finally {
      process.env['PATH'] = program;
    }
  });
});
