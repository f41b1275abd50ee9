import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Log } from '../log/log';
import { silentLog } from '../log/log';
import { ensureServingCertificate } from './serving-certificate';
import { reachableAddress, servingHosts } from './serving-hosts';

let dir = '';
beforeEach(() => {
  dir = path.join(mkdtempSync(path.join(tmpdir(), 'serving-')), 'certs');
});
afterEach(() => {
  rmSync(path.dirname(dir), { recursive: true });
});

const HOSTS = servingHosts(['10.0.0.7', 'api.example.com']);
const inDays = (days: number) => ({ now: () => Date.now() + days * 86_400_000 });
const text = (file: string): string => readFileSync(file, 'utf8');

test('the first start makes leaf, key and authority, and only the owner may read the keys', () => {
  const files = ensureServingCertificate({ dir, hosts: HOSTS });
  expect(readdirSync(dir).sort()).toEqual(['apiserver.crt', 'apiserver.key', 'ca.crt', 'ca.key']);
  expect(statSync(files.keyFile).mode & 0o777).toBe(0o600);
  expect(statSync(path.join(dir, 'ca.key')).mode & 0o777).toBe(0o600);
  expect(text(files.certFile).endsWith(text(files.caFile))).toBe(true);
  const leaf = new X509Certificate(text(files.certFile));
  for (const host of ['localhost', 'api.example.com']) expect(leaf.checkHost(host)).toBe(host);
  for (const ip of ['127.0.0.1', '::1', '10.0.0.7']) expect(leaf.checkIP(ip)).toBe(ip);
});

test('a later start reuses what is there', () => {
  const files = ensureServingCertificate({ dir, hosts: HOSTS });
  const before = text(files.certFile);
  ensureServingCertificate({ dir, hosts: ['localhost'] });
  expect(text(files.certFile)).toBe(before);
});

test.each<[string, (files: { certFile: string; keyFile: string }) => void, string]>([
  ['unparsable', ({ certFile }) => writeFileSync(certFile, 'rubbish'), 'cannot be parsed'],
  ['missing', ({ keyFile }) => rmSync(keyFile), 'none yet'],
])(
  'a leaf that is %s is re-made under the same authority, and the log says why',
  (_what, damage, because) => {
    const files = ensureServingCertificate({ dir, hosts: HOSTS });
    const [leafBefore, caBefore] = [text(files.certFile), text(files.caFile)];
    damage(files);
    const said: object[] = [];
    const log: Log = { ...silentLog, info: (fields) => said.push(fields) };
    ensureServingCertificate({ dir, hosts: HOSTS, log });
    expect(text(files.certFile)).not.toBe(leafBefore);
    expect(text(files.caFile)).toBe(caBefore);
    expect(said).toEqual([expect.objectContaining({ reason: expect.stringContaining(because) as string })]);
  },
);

test('a leaf that lacks a host is re-made with it', () => {
  const files = ensureServingCertificate({ dir, hosts: HOSTS });
  ensureServingCertificate({ dir, hosts: [...HOSTS, '10.9.9.9'] });
  expect(new X509Certificate(text(files.certFile)).checkIP('10.9.9.9')).toBe('10.9.9.9');
});

test('replicas over one directory come to one leaf with the hosts of all, whatever their spelling', () => {
  const files = ensureServingCertificate({ dir, hosts: ['LOCALHOST', '::1', '10.0.0.1'] });
  ensureServingCertificate({ dir, hosts: ['localhost', '0::1', '10.0.0.2'] });
  const leaf = text(files.certFile);
  ensureServingCertificate({ dir, hosts: ['localhost', '::1', '10.0.0.1'] });
  expect(text(files.certFile)).toBe(leaf);
  expect(new X509Certificate(leaf).subjectAltName).toBe(
    'DNS:localhost, IP Address:0:0:0:0:0:0:0:1, IP Address:10.0.0.2, IP Address:10.0.0.1',
  );
});

test('a leaf near its end is re-made, and both leaf and authority at theirs', () => {
  const files = ensureServingCertificate({ dir, hosts: HOSTS });
  const caBefore = text(files.caFile);
  ensureServingCertificate({ dir, hosts: HOSTS, clock: inDays(340) });
  expect(text(files.caFile)).toBe(caBefore);
  expect(Date.parse(new X509Certificate(text(files.certFile)).validTo)).toBeGreaterThan(inDays(700).now());
  ensureServingCertificate({ dir, hosts: HOSTS, clock: inDays(3_640) });
  expect(text(files.caFile)).not.toBe(caBefore);
  expect(
    new X509Certificate(text(files.certFile)).verify(new X509Certificate(text(files.caFile)).publicKey),
  ).toBe(true);
});

test('an unspecified bind address is no host, and another address stands in for it', () => {
  expect(servingHosts(['0.0.0.0', '::'])).toEqual(servingHosts([]));
  expect(reachableAddress('192.0.2.1')).toBe('192.0.2.1');
  expect(reachableAddress('0.0.0.0')).not.toBe('0.0.0.0');
});
