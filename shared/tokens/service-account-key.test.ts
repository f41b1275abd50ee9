import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureServiceAccountKey } from './service-account-key';
import { signingKeyOf } from './token-key';

let dir = '';

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'account-key-'));
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

test('the first start creates a key that only its owner may read, and later ones find it', () => {
  const within = path.join(dir, 'certs');
  const first = ensureServiceAccountKey(within);
  expect(first.isNew).toBe(true);
  expect(statSync(first.file).mode & 0o777).toBe(0o600);
  const text = readFileSync(first.file, 'utf8');
  expect(signingKeyOf(text).algorithm).toBe('ES256');
  expect(ensureServiceAccountKey(within)).toEqual({ file: first.file, isNew: false });
  expect(readFileSync(first.file, 'utf8')).toBe(text);
  expect(readdirSync(within)).toEqual([path.basename(first.file)]);
});

test('a read-only folder is an error and leaves nothing behind', () => {
  const file = ensureServiceAccountKey(dir).file;
  expect(() => ensureServiceAccountKey(path.join(file, 'below'))).toThrow(/ENOTDIR|EEXIST/);
  expect(readdirSync(dir)).toEqual([path.basename(file)]);
});
