import { generateKeyPairSync } from 'node:crypto';
import {
  CERTIFICATE_REQUEST_BYTES_MAX,
  CertificateRequestError,
  parseCertificateRequest,
} from './certificate-request';
import * as der from './der';
import { EXTENSION, extension } from './signed-certificate';
import { newCertificateRequest } from './testing/new-certificate-request';

test('a request says what it asks for', () => {
  const address = Buffer.from([10, 0, 0, 1]);
  const { pem, publicKey } = newCertificateRequest({
    names: [['2.5.4.3', 'first']],
    commonName: 'last',
    organizations: ['a', 'b'],
    dns: ['x', 'y'],
    email: ['e@x'],
    ip: [address],
    uri: ['u:v'],
  });
  const request = parseCertificateRequest(`a comment\n${pem}`);
  expect(request).toMatchObject({
    commonName: 'last',
    organizations: ['a', 'b'],
    alternativeNames: { dns: ['x', 'y'], email: ['e@x'], ip: [address], uri: ['u:v'] },
    publicKeyInfo: publicKey.export({ type: 'spki', format: 'der' }),
  });
  expect(request.isSignedByItself()).toBe(true);
});

test('a request that asks for little says so', () => {
  const request = parseCertificateRequest(newCertificateRequest().pem);
  const alternativeNames = { dns: [], email: [], ip: [], uri: [] };
  expect(request).toMatchObject({ commonName: '', organizations: [], alternativeNames });
});

test('a changed request is not signed by itself', () => {
  const { pem } = newCertificateRequest({ commonName: 'jane' });
  const bytes = Buffer.from(pem.replaceAll(/-----.*-----|\n/g, ''), 'base64');
  bytes.write('june', bytes.indexOf('jane'));
  const changed = `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  expect(parseCertificateRequest(changed).commonName).toBe('june');
  expect(parseCertificateRequest(changed).isSignedByItself()).toBe(false);
});

test('a request that is too long is not read', () => {
  const readable = newCertificateRequest({ dns: Array.from({ length: 100 }, () => 'x'.repeat(60)) }).pem;
  const long = readable.padStart(CERTIFICATE_REQUEST_BYTES_MAX, 'x');
  expect(parseCertificateRequest(long).alternativeNames.dns).toHaveLength(100);
  expect(() => parseCertificateRequest(`x${long}`)).toThrow('the request is longer than 32768 bytes');
});

test('with a key that takes long no signature is checked', () => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'sect571k1' });
  const request = parseCertificateRequest(newCertificateRequest({ keys }).pem);
  expect(() => request.isSignedByItself()).toThrow('a key of a kind or size that is not accepted');
});

const names = (...values: readonly Buffer[]): Buffer =>
  extension(EXTENSION.subjectAltName, der.sequence(...values));
const wrapped = (bytes: Buffer, label = 'CERTIFICATE REQUEST'): string =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64')}\n-----END ${label}-----\n`;

test.each([
  ['nothing', '', 'PEM block type must be CERTIFICATE REQUEST'],
  ['another block', wrapped(der.sequence(), 'CERTIFICATE'), 'PEM block type must be CERTIFICATE REQUEST'],
  ['an empty sequence', wrapped(der.sequence()), 'malformed request'],
  ['bytes that are cut off', wrapped(Buffer.from([0x30, 0x05, 0x01])), 'malformed request'],
  ['no bytes', wrapped(Buffer.alloc(0)), 'malformed request'],
  [
    'a length in more bytes than it needs',
    wrapped(Buffer.from([0x30, 0x81, 0x02, 0x30, 0x00])),
    'malformed request: bad length',
  ],
  [
    'an indefinite length',
    wrapped(Buffer.from([0x30, 0x80, 0x30, 0x00, 0x00, 0x00])),
    'malformed request: bad length',
  ],
  [
    'two lists of further names',
    newCertificateRequest({ extensions: [names(), names()] }).pem,
    'malformed request: two lists of further names',
  ],
  [
    'an address of five bytes',
    newCertificateRequest({ ip: [Buffer.alloc(5)] }).pem,
    'malformed request: an address of a length that none has',
  ],
  [
    'a DNS name that is not ASCII',
    newCertificateRequest({ dns: ['ä'] }).pem,
    'malformed request: a further name that is not ASCII',
  ],
])('%s is no request', (_title, pem, message) => {
  expect(() => parseCertificateRequest(pem)).toThrow(CertificateRequestError);
  expect(() => parseCertificateRequest(pem)).toThrow(message);
});
