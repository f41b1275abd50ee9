import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { assertDialectOf, ensureCredentials, writeKubeconfig } from './credentials';

test('a data directory that cannot be created is named in the error', () => {
  expect(() => ensureCredentials('/proc/orch-nowhere/data')).toThrow(
    /^the directory \/proc\/orch-nowhere\/data cannot be made: .*ENOENT/,
  );
});

test('a set has one client authority, with a key of mode 0600', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'credentials-'));
  try {
    const { certFile, keyFile } = ensureCredentials(dir).signingAuthority;
    const text = readFileSync(certFile, 'utf8');
    expect(new X509Certificate(text).ca).toBe(true);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(ensureCredentials(dir).signingAuthority).toEqual({ certFile, keyFile });
    expect(readFileSync(certFile, 'utf8')).toBe(text);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('a directory of the other dialect is refused with the options that help', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'credentials-'));
  try {
    assertDialectOf(dir);
    ensureCredentials(dir, 'system:kube-controller-manager');
    expect(() => assertDialectOf(dir)).toThrow(/--dialect=kubernetes.*--data-dir/u);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('a kubeconfig has mode 0600, also if it replaces a more open file', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'credentials-'));
  try {
    const [file, caFile] = [path.join(dir, 'kubeconfig'), path.join(dir, 'ca.crt')];
    for (const each of [file, caFile]) writeFileSync(each, 'x', { mode: 0o644 });
    writeKubeconfig(file, { server: 'https://127.0.0.1:1', caFile, user: 'u', token: 't' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toMatch(/token: t$/mu);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
