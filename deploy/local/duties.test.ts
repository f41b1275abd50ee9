import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { issueCertificate } from '../../shared/certs/certificate';
import { ensureCredentials } from './credentials';
import { assertKeysOfStore, ensureDuties } from './duties';

let dir = '';

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'duties-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

function fileOf(flags: readonly string[], name: string): string {
  return flags.find((flag) => flag.startsWith(`--${name}=`))?.split('=')[1] ?? '';
}

test('client certificates of the server are signed by trusted authorities, and created once', () => {
  const credentials = ensureCredentials(dir);
  const { apiServer } = ensureDuties(dir, credentials);
  const read = (name: string): X509Certificate => new X509Certificate(readFileSync(fileOf(apiServer, name)));
  const frontProxy = read('proxy-client-cert-file');
  expect(frontProxy.verify(read('requestheader-client-ca-file').publicKey)).toBe(true);
  expect(frontProxy.subject).toBe(`CN=${fileOf(apiServer, 'requestheader-allowed-names')}`);
  const signer = new X509Certificate(readFileSync(credentials.signingAuthority.certFile));
  expect(read('kubelet-client-certificate').verify(signer.publicKey)).toBe(true);
  const before = frontProxy.fingerprint256;
  expect(ensureDuties(dir, credentials).apiServer).toEqual(apiServer);
  expect(read('proxy-client-cert-file').fingerprint256).toBe(before);
});

test('the certificate for kubelets is no superuser, also where an earlier version issued it to one', () => {
  const credentials = ensureCredentials(dir);
  const { apiServer } = ensureDuties(dir, credentials);
  const file = fileOf(apiServer, 'kubelet-client-certificate');
  const subject = (): string => new X509Certificate(readFileSync(file)).subject;
  expect(subject()).toBe('CN=orch-apiserver-kubelet-client');
  const old = issueCertificate(
    {
      certificatePem: readFileSync(credentials.signingAuthority.certFile, 'utf8'),
      privateKeyPem: readFileSync(credentials.signingAuthority.keyFile, 'utf8'),
    },
    {
      commonName: 'orch-apiserver-kubelet-client',
      organizations: ['system:masters'],
      usages: ['client'],
      validDays: 1,
    },
  );
  writeFileSync(file, old.certificatePem);
  ensureDuties(dir, credentials);
  expect(subject()).toBe('CN=orch-apiserver-kubelet-client');
  const renewed = readFileSync(file);
  expect(
    new X509Certificate(renewed).checkPrivateKey(
      createPrivateKey(readFileSync(fileOf(apiServer, 'kubelet-client-key'))),
    ),
  ).toBe(true);
  ensureDuties(dir, credentials);
  expect(readFileSync(file)).toEqual(renewed);
});

test('keys have mode 0600', () => {
  const { apiServer } = ensureDuties(dir, ensureCredentials(dir));
  for (const name of ['encryption-provider-config', 'proxy-client-key-file', 'kubelet-client-key'])
    expect(statSync(fileOf(apiServer, name)).mode & 0o777).toBe(0o600);
});

test.each(['own-certs/encryption.yaml', 'service-account.key', 'signing-ca.key', 'signing-ca.crt'])(
  'a store whose %s is gone is not started, and the message says what to restore',
  (file) => {
    const storeDir = path.join(dir, 'data');
    assertKeysOfStore(dir, storeDir);
    ensureDuties(dir, ensureCredentials(dir));
    mkdirSync(storeDir);
    writeFileSync(path.join(storeDir, 'CURRENT'), '');
    assertKeysOfStore(dir, storeDir);
    rmSync(path.join(dir, file));
    expect(() => {
      assertKeysOfStore(dir, storeDir);
    }).toThrow(`${path.join(dir, file)} (`);
    expect(() => {
      assertKeysOfStore(dir, path.join(dir, 'no-store'));
    }).not.toThrow();
  },
);
