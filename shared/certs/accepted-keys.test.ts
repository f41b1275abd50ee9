import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import * as der from './der';
import { derValues } from './der-reader';
import { isAcceptedKey } from './accepted-keys';

function isAccepted(bytes: Buffer): boolean {
  return isAcceptedKey(derValues(bytes)[0]);
}

function encoded(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

test.each<[bits: number, exponent: number[], boolean]>([
  [1_024, [1, 0, 1], true],
  [2_048, [3], true],
  [8_192, [1, 0, 1], true],
  [2_048, [0x7f, 0xff, 0xff, 0xff], true],
  [1_016, [1, 0, 1], false],
  [8_200, [1, 0, 1], false],
  [2_048, [0x80, 0, 0, 1], false],
])('an RSA key of %d bits with the exponent %j is accepted: %p', (bits, exponent, isFine) => {
  const n = Buffer.alloc(bits / 8, 0xff).toString('base64url');
  const e = Buffer.from(exponent).toString('base64url');
  expect(isAccepted(encoded(createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' })))).toBe(isFine);
});

test.each([
  ['P-224', true],
  ['P-256', true],
  ['P-384', true],
  ['P-521', true],
  ['secp256k1', false],
  ['brainpoolP256r1', false],
  ['sect571k1', false],
])('a key of the curve %s is accepted: %p', (namedCurve, isFine) => {
  expect(isAccepted(encoded(generateKeyPairSync('ec', { namedCurve }).publicKey))).toBe(isFine);
});

test('a key with a curve of its own making is not accepted', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256', paramEncoding: 'explicit' });
  expect(isAccepted(encoded(publicKey))).toBe(false);
});

test('of other kinds only Ed25519 is accepted', () => {
  expect(isAccepted(encoded(generateKeyPairSync('ed25519').publicKey))).toBe(true);
  expect(isAccepted(encoded(generateKeyPairSync('ed448').publicKey))).toBe(false);
  expect(isAccepted(encoded(generateKeyPairSync('rsa-pss', { modulusLength: 2_048 }).publicKey))).toBe(false);
});

test('a file without a key is reported', () => {
  const rsa = der.sequence(der.objectIdentifier('1.2.840.113549.1.1.1'), der.nothing());
  expect(() => isAcceptedKey(undefined)).toThrow('not the structure that is expected');
  expect(() => isAccepted(der.sequence(rsa))).toThrow('no public key');
  expect(() => isAccepted(der.sequence(rsa, der.bitString(der.sequence())))).toThrow('no public key');
  expect(isAccepted(der.sequence(rsa, der.bitString(der.sequence(der.integer(0), der.integer(3)))))).toBe(
    false,
  );
});
