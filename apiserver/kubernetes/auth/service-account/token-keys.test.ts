import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { newKeyPem } from '../../../../shared/certs/testing/new-key-pem';
import { readAccountTokenKeys } from './token-keys';

let dir = '';

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'token-keys-'));
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

function file(name: string, text: string): string {
  const full = path.join(dir, name);
  writeFileSync(full, text);
  return full;
}

test('tokens of the own key are taken, and of every key of every file, each key once', () => {
  const [own, first, second] = [newKeyPem(), newKeyPem(), newKeyPem()];
  const { signing, verifying } = readAccountTokenKeys({
    signingKeyFile: file('own', own.privateKey),
    keyFiles: [file('two', first.publicKey + second.privateKey), file('again', own.publicKey)],
  });
  expect(verifying).toHaveLength(3);
  expect(verifying[0]?.keyId).toBe(signing.keyId);
  expect(verifying.every((key) => !('privateKey' in key))).toBe(true);
});

test('an unreadable file or one without a key is reported by name', () => {
  const own = file('own', newKeyPem().privateKey);
  const missing = path.join(dir, 'missing');
  const empty = file('empty', '');
  expect(() => readAccountTokenKeys({ signingKeyFile: missing, keyFiles: [] })).toThrow(
    `${missing}: the key file cannot be read`,
  );
  expect(() => readAccountTokenKeys({ signingKeyFile: own, keyFiles: [empty] })).toThrow(
    `${empty}: there is no public or private key in PEM form`,
  );
});
