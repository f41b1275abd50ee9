import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeCa } from '../../shared/certs/certificate';
import { ensureServingCertificate } from '../../shared/certs/serving-certificate';
import { silentLog } from '../../shared/log/log';
import { openRootCaFile, RootCaError, readCertificates, runWithRootCa } from './root-ca-file';

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

test('work runs again with the certificates of a changed file, and a damaged file changes nothing', async () => {
  const [one, two] = ['a', 'b'].map((commonName) => makeCa({ commonName, validDays: 1 }).certificatePem);
  const file = path.join(dir, 'ca.pem');
  writeFileSync(file, one ?? '');
  const stop = new AbortController();
  const rootCa = openRootCaFile(file, { log: silentLog, signal: stop.signal, pollMs: 5 });
  const seen: (string | undefined)[] = [];
  await runWithRootCa(rootCa, stop.signal, async (pem, signal) => {
    seen.push(pem);
    if (seen.length === 1) {
      writeFileSync(file, 'nothing');
      setTimeout(() => {
        writeFileSync(file, two ?? '');
      }, 20);
    } else stop.abort();
    if (!signal.aborted) await once(signal, 'abort');
  });
  expect(seen).toEqual([one, two]);
});
