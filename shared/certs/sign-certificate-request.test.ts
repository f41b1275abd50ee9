import { execFileSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeCa } from './certificate';
import { parseCertificateRequest } from './certificate-request';
import * as der from './der';
import { EXTENDED_USAGES } from './key-usages';
import type { SignOptions } from './sign-certificate-request';
import { signCertificateRequest, signingAuthorityOf } from './sign-certificate-request';
import { EXTENSION, extension } from './signed-certificate';
import type { NewRequestOptions } from './testing/new-certificate-request';
import { newCertificateRequest } from './testing/new-certificate-request';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2030, 5, 1, 12, 0, 0);
const clock = { now: () => NOW };
const ca = makeCa({ commonName: 'signers', validDays: 1_000, clock });
const authority = signingAuthorityOf(ca.certificatePem, ca.privateKeyPem);
const options: SignOptions = {
  usages: ['digital signature', 'key encipherment', 'client auth'],
  lifetimeMs: 365 * DAY_MS,
  clock,
};

function signed(request: NewRequestOptions, more: Partial<SignOptions> = {}): X509Certificate {
  const { pem } = newCertificateRequest(request);
  return new X509Certificate(
    signCertificateRequest(authority, parseCertificateRequest(pem), { ...options, ...more }),
  );
}

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'sign-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

function openssl(...words: string[]): string {
  return execFileSync('openssl', words, { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

test('a certificate has the name, the key and the further names that were asked for', () => {
  const request = newCertificateRequest({
    commonName: 'jane',
    organizations: ['dev', 'zwölf'],
    dns: ['a.example.com'],
    email: ['a@example.com'],
    ip: [Buffer.from([10, 0, 0, 1])],
    uri: ['spiffe://x/y'],
  });
  const certificate = new X509Certificate(
    signCertificateRequest(authority, parseCertificateRequest(request.pem), options),
  );
  expect(certificate.subject).toBe('O=dev\nO=zwölf\nCN=jane');
  expect(certificate.issuer).toBe('CN=signers');
  expect(certificate.subjectAltName).toBe(
    'DNS:a.example.com, email:a@example.com, IP Address:10.0.0.1, URI:spiffe://x/y',
  );
  expect(certificate.checkPrivateKey(request.privateKey)).toBe(true);
  expect(certificate.verify(new X509Certificate(ca.certificatePem).publicKey)).toBe(true);
  expect(certificate.checkIssued(new X509Certificate(ca.certificatePem))).toBe(true);
});

test('it is good from five minutes ago, for the time asked for from then on', () => {
  const { validFrom, validTo } = signed({ commonName: 'x' });
  expect(Date.parse(validFrom)).toBe(NOW - 300_000);
  expect(Date.parse(validTo)).toBe(NOW - 300_000 + 365 * DAY_MS);
});

test('it ends no later than the authority', () => {
  const { validTo } = signed({ commonName: 'x' }, { lifetimeMs: 2_000 * DAY_MS });
  expect(Date.parse(validTo)).toBe(NOW + 1_000 * DAY_MS);
});

test('an authority that has ended signs nothing, and nothing is signed that has ended', () => {
  const late = { now: () => NOW + 1_000 * DAY_MS };
  expect(() => signed({}, { clock: late })).toThrow('the CA certificate has expired');
  expect(() => signed({}, { lifetimeMs: 300_000 })).toThrow('the certificate would have expired already');
  expect(Date.parse(signed({}, { lifetimeMs: 301_000 }).validTo)).toBe(NOW + 1_000);
});

test('it is no authority, whatever was asked for, and gets no extension that was asked for', () => {
  const asked = [
    extension(EXTENSION.basicConstraints, der.sequence(der.boolean(true)), 'critical'),
    extension(EXTENSION.keyUsage, der.namedBits([5, 6]), 'critical'),
    extension('1.2.3.4.5', der.octetString(Buffer.from('mine'))),
  ];
  const certificate = signed({ commonName: 'x', extensions: asked });
  expect(certificate.ca).toBe(false);
  writeFileSync(path.join(dir, 'x.crt'), certificate.toString());
  const text = openssl('x509', '-in', 'x.crt', '-noout', '-text');
  expect(text).toContain('CA:FALSE');
  expect(text).not.toContain('1.2.3.4.5');
  expect(text).not.toContain('Certificate Sign');
});

test('its usages are those asked for, the same said twice counts once', () => {
  const certificate = signed({}, { usages: ['s/mime', 'any', 'email protection', 'client auth', 'signing'] });
  expect(certificate.keyUsage).toEqual(
    ['any', 'client auth', 'email protection'].map((usage) => EXTENDED_USAGES.get(usage)),
  );
  expect(signed({}, { usages: ['digital signature'] }).keyUsage).toBeUndefined();
  expect(() => signed({}, { usages: ['client auth', 'flying'] })).toThrow('unknown usages: flying');
});

test('every bit of a key usage is where it belongs', () => {
  const usages = ['content commitment', 'crl sign', 'key agreement', 'decipher only'];
  writeFileSync(path.join(dir, 'x.crt'), signed({}, { usages }).toString());
  expect(openssl('x509', '-in', 'x.crt', '-noout', '-ext', 'keyUsage')).toContain(
    'Non Repudiation, Key Agreement, CRL Sign, Decipher Only',
  );
});

test('of several common names the last one is taken, and parts of names that are not known are left out', () => {
  const certificate = signed({
    names: [
      ['2.5.4.3', 'admin'],
      ['0.9.2342.19200300.100.1.1', 'uid'],
      ['2.5.4.6', 'DE'],
    ],
    commonName: 'system:node:a',
    organizations: ['system:nodes'],
  });
  expect(certificate.subject).toBe('C=DE\nO=system:nodes\nCN=system:node:a');
});

test('a last common name that is empty hides the others, as it does from every check', () => {
  const request = { names: [['2.5.4.3', 'admin']] as const, commonName: '', organizations: ['a'] };
  expect(parseCertificateRequest(newCertificateRequest(request).pem).commonName).toBe('');
  expect(signed(request).subject).toBe('O=a');
});

test('without a name of its own the further names are critical', () => {
  writeFileSync(path.join(dir, 'x.crt'), signed({ dns: ['a'] }).toString());
  expect(openssl('x509', '-in', 'x.crt', '-noout', '-ext', 'subjectAltName')).toMatch(
    /Subject Alternative Name: critical\s+DNS:a/,
  );
});

test('a request that another key has signed is refused', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  expect(() => signed({ commonName: 'x', signingKey: privateKey })).toThrow(
    'the signature of the request is invalid',
  );
});

test('serial numbers are positive, long and never the same', () => {
  const serials = Array.from({ length: 20 }, () => signed({}).serialNumber);
  expect(new Set(serials).size).toBe(20);
  for (const serial of serials) expect(serial).toMatch(/^[4-7][0-9A-F]{31}$/);
});

test.each([
  ['RSA', ['genrsa', '-out', 'ca.key', '2048']],
  ['RSA in the traditional form', ['genrsa', '-traditional', '-out', 'ca.key', '2048']],
  ['P-256 with parameters', ['ecparam', '-name', 'prime256v1', '-genkey', '-out', 'ca.key']],
  ['P-384', ['ecparam', '-name', 'secp384r1', '-genkey', '-noout', '-out', 'ca.key']],
  ['P-521', ['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-521', '-out', 'ca.key']],
  ['Ed25519', ['genpkey', '-algorithm', 'ed25519', '-out', 'ca.key']],
])('openssl accepts what an authority of openssl with a key of %s signs', (_kind, words) => {
  openssl(...words);
  const usage = 'keyUsage=critical,keyCertSign';
  openssl(
    'req',
    '-x509',
    '-new',
    '-key',
    'ca.key',
    '-subj',
    '/O=org/CN=ca',
    '-addext',
    usage,
    '-out',
    'ca.crt',
  );
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', 'x.key');
  const names = 'subjectAltName=DNS:localhost,IP:::1';
  openssl('req', '-new', '-key', 'x.key', '-subj', '/O=dev/CN=jane', '-addext', names, '-out', 'x.csr');
  const text = (file: string): string => readFileSync(path.join(dir, file), 'utf8');
  const pem = signCertificateRequest(
    signingAuthorityOf(text('ca.crt'), text('ca.key')),
    parseCertificateRequest(text('x.csr')),
    { usages: ['digital signature', 'client auth', 'server auth'], lifetimeMs: DAY_MS, clock: Date },
  );
  writeFileSync(path.join(dir, 'x.crt'), pem);
  for (const purpose of ['sslclient', 'sslserver']) {
    expect(openssl('verify', '-x509_strict', '-purpose', purpose, '-CAfile', 'ca.crt', 'x.crt')).toBe(
      'x.crt: OK\n',
    );
  }
  const certificate = new X509Certificate(pem);
  expect(certificate.checkPrivateKey(createPrivateKey(text('x.key')))).toBe(true);
  expect(certificate.checkHost('localhost')).toBe('localhost');
});

test.each(['rsa', 'ec', 'ed25519'] as const)('a request with a key of %s is signed', (keyType) => {
  expect(signed({ commonName: 'x', keyType }).publicKey.asymmetricKeyType).toBe(keyType);
});

test('an authority is one certificate with its own key', () => {
  const other = makeCa({ commonName: 'other', validDays: 1 });
  expect(() => signingAuthorityOf('', ca.privateKeyPem)).toThrow('there must be one certificate, not 0');
  expect(() => signingAuthorityOf(ca.certificatePem + other.certificatePem, ca.privateKeyPem)).toThrow(
    'there must be one certificate, not 2',
  );
  expect(() => signingAuthorityOf(ca.certificatePem, 'x')).toThrow('there is no private key in PEM form');
  expect(() => signingAuthorityOf(ca.certificatePem, other.privateKeyPem)).toThrow(
    'the private key does not match the certificate',
  );
});
