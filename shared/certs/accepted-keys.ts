import type { DerValue } from './der-reader';
import { DER_TAG, derChildren, derValues } from './der-reader';

/**
 * Whether a key, given as SubjectPublicKeyInfo, is one that certificates may have: those that Go knows, and so kube-apiserver, and of RSA
 * none that is so small that it can be broken, or so large that to verify with it would keep this server busy. Throws an Error for what
 * is no key at all.
 */
export function isAcceptedKey(publicKeyInfo: DerValue | undefined): boolean {
  const [algorithm, key] = derChildren(publicKeyInfo, DER_TAG.sequence);
  const [kind, parameters] = derChildren(algorithm, DER_TAG.sequence);
  const id = hexOf(kind);
  if (id === RSA) return isAcceptedRsaKey(key);
  return id === ED25519 || (id === ELLIPTIC_CURVE && CURVES.has(hexOf(parameters)));
}

/** Object identifiers, as the bytes of their DER in hexadecimal. */
const RSA = '2a864886f70d010101';
const ELLIPTIC_CURVE = '2a8648ce3d0201';
const ED25519 = '2b6570';
/** P-224, P-256, P-384 and P-521: to verify with the slowest of them takes a few milliseconds, and with others ten and more. */
const CURVES: ReadonlySet<string> = new Set(['2b81040021', '2a8648ce3d030107', '2b81040022', '2b81040023']);

const RSA_BITS_MIN = 1_024;
const RSA_BITS_MAX = 8_192;
const RSA_EXPONENT_BITS_MAX = 31;

/** RSAPublicKey ::= SEQUENCE { modulus INTEGER, publicExponent INTEGER }, in a bit string whose first byte counts unused bits. */
function isAcceptedRsaKey(key: DerValue | undefined): boolean {
  if (key?.tag !== DER_TAG.bitString) throw new Error('no public key');
  const [whole] = derValues(key.content.subarray(1));
  const [modulus, exponent] = derChildren(whole, DER_TAG.sequence);
  const bits = bitsOf(modulus);
  return bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX && bitsOf(exponent) <= RSA_EXPONENT_BITS_MAX;
}

/** How long a number is without the zeros before it. */
function bitsOf(number: DerValue | undefined): number {
  const bytes = number?.content;
  if (number?.tag !== DER_TAG.integer || bytes === undefined || bytes.length === 0) {
    throw new Error('no public key');
  }
  const first = bytes.findIndex((byte) => byte !== 0);
  if (first < 0) return 0;
  return (bytes.length - first - 1) * BYTE_BITS + bytes.readUInt8(first).toString(2).length;
}

const BYTE_BITS = 8;

function hexOf(identifier: DerValue | undefined): string {
  return identifier?.tag === DER_TAG.objectIdentifier ? identifier.content.toString('hex') : '';
}
