import { createPrivateKey, X509Certificate } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { issueCertificate, makeCa } from './certificate';

const ca = makeCa({ commonName: 'test ca', validDays: 10 });

test('an authority is a certificate authority that signed itself', () => {
  const certificate = new X509Certificate(ca.certificatePem);
  expect(certificate.ca).toBe(true);
  expect(certificate.subject).toBe('CN=test ca');
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.checkPrivateKey(createPrivateKey(ca.privateKeyPem))).toBe(true);
});

test('keys are ECDSA on P-256', () => {
  const { publicKey } = new X509Certificate(ca.certificatePem);
  expect([publicKey.asymmetricKeyType, publicKey.asymmetricKeyDetails?.namedCurve]).toEqual([
    'ec',
    'prime256v1',
  ]);
});

test('a leaf carries its names, addresses, organizations and usages, and is signed by its authority', () => {
  const leaf = new X509Certificate(
    issueCertificate(ca, {
      commonName: 'system:node:a',
      organizations: ['system:masters', 'zwölf'],
      hosts: ['example.com', '*.a.example.com', '10.1.2.3', 'fe80::1:2', '::ffff:1.2.3.4'],
      usages: ['server', 'client'],
      validDays: 1,
    }).certificatePem,
  );
  expect(leaf.subject).toBe('O=system:masters\nO=zwölf\nCN=system:node:a');
  expect(leaf.subjectAltName).toBe(
    'DNS:example.com, DNS:*.a.example.com, IP Address:10.1.2.3, IP Address:FE80:0:0:0:0:0:1:2, IP Address:0:0:0:0:0:FFFF:102:304',
  );
  expect(leaf.ca).toBe(false);
  expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  expect(leaf.checkIssued(new X509Certificate(ca.certificatePem))).toBe(true);
  expect(leaf.verify(new X509Certificate(ca.certificatePem).publicKey)).toBe(true);
});

test('a certificate is valid from a little before now for the days asked for, also beyond 2050', () => {
  const now = Date.UTC(2045, 5, 1);
  const clock = { now: () => now };
  const certificate = new X509Certificate(
    makeCa({ commonName: 'late', validDays: 3_650, clock }).certificatePem,
  );
  expect(Date.parse(certificate.validFrom)).toBe(now - 300_000);
  expect(Date.parse(certificate.validTo)).toBe(now + 3_650 * 86_400_000);
});

test('openssl accepts the chain for serving under strict rules', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'certs-'));
  try {
    const leaf = issueCertificate(ca, { commonName: 'x', hosts: ['x'], usages: ['server'], validDays: 1 });
    writeFileSync(path.join(dir, 'ca.crt'), ca.certificatePem);
    writeFileSync(path.join(dir, 'leaf.crt'), leaf.certificatePem);
    const output = execFileSync(
      'openssl',
      ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', 'ca.crt', 'leaf.crt'],
      { cwd: dir, encoding: 'utf8' },
    );
    expect(output).toBe('leaf.crt: OK\n');
  } finally {
    rmSync(dir, { recursive: true });
  }
});
