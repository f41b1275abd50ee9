import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureServingCertificate } from '../../shared/certs/serving-certificate';
import { silentLog } from '../../shared/log/log';
import { RootCaError, readCertificates } from './root-ca-file';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'root-ca-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

test('a valid file of certificates is returned unchanged', () => {
  const { certFile } = ensureServingCertificate({ dir, hosts: ['localhost'], log: silentLog });
  const text = readFileSync(certFile, 'utf8');
  expect(readCertificates(certFile)).toBe(text);
});

test.each([
  ['no certificate', 'nothing'],
  ['one that cannot be read', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
])('a file with %s is refused', (_what, text) => {
  const file = path.join(dir, 'ca.pem');
  writeFileSync(file, text);
  expect(() => readCertificates(file)).toThrow(RootCaError);
});

test('a missing file is refused by name', () => {
  const file = path.join(dir, 'gone.pem');
  expect(() => readCertificates(file)).toThrow(file);
});
