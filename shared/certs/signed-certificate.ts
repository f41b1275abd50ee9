import type { KeyObject } from 'node:crypto';
import { randomBytes, sign } from 'node:crypto';
import * as der from './der';
import { ownKeyMap } from '../own-key-map';

/** The parts of every X.509 certificate (RFC 5280). */
export interface CertificateContent {
  /** Names, each a whole element. */
  readonly subject: Buffer;
  readonly issuer: Buffer;
  /** A whole SubjectPublicKeyInfo. */
  readonly publicKeyInfo: Buffer;
  readonly validity: Validity;
  readonly extensions: readonly Buffer[];
  /** The issuer's: RSA, elliptic on a NIST curve, or Ed25519. */
  readonly signingKey: KeyObject;
}

/** Milliseconds since the epoch; certificates know seconds. */
export interface Validity {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Object identifiers of extensions. */
export const EXTENSION = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** Object identifiers of what a name says. */
export const NAME_ATTRIBUTE = { commonName: '2.5.4.3', organization: '2.5.4.10' } as const;

/** The bits of a key usage. */
export const KEY_USAGE_BIT = {
  digitalSignature: 0,
  contentCommitment: 1,
  keyEncipherment: 2,
  dataEncipherment: 3,
  keyAgreement: 4,
  certificateSign: 5,
  crlSign: 6,
  encipherOnly: 7,
  decipherOnly: 8,
} as const;

/** The tags of the kinds of further names. */
export const GENERAL_NAME = { email: 1, dns: 2, uri: 6, ip: 7 } as const;

/** Clocks differ a little between machines; a certificate is valid from a moment before it was made, in milliseconds. */
export const BACKDATE_MS = 300_000;

const X509_V3 = 2;
const SERIAL_BYTES = 16;

/** A certificate of version 3 with a random serial number, as PEM. Throws an Error for a key that signs no certificates. */
export function signedCertificate(content: CertificateContent): string {
  const { identifier, hash } = algorithmOf(content.signingKey);
  const { fromMs, untilMs } = content.validity;
  const toBeSigned = der.sequence(
    der.explicit(0, der.integer(X509_V3)),
    der.integer(randomSerial()),
    identifier,
    content.issuer,
    der.sequence(der.time(fromMs), der.time(untilMs)),
    content.subject,
    content.publicKeyInfo,
    der.explicit(3, der.sequence(...content.extensions)),
  );
  const signature = der.bitString(sign(hash, toBeSigned, content.signingKey));
  return pem(der.sequence(toBeSigned, identifier, signature));
}

export function extension(oid: string, value: Buffer, critical?: 'critical'): Buffer {
  return der.sequence(
    der.objectIdentifier(oid),
    ...(critical === undefined ? [] : [der.boolean(true)]),
    der.octetString(value),
  );
}

/** The extension that names the key of the issuer. */
export function authorityKeyIdentifier(keyIdentifier: Buffer): Buffer {
  return extension(EXTENSION.authorityKeyIdentifier, der.sequence(der.implicit(0, keyIdentifier)));
}

/** One part of a name. */
export function nameAttribute(oid: string, text: string): Buffer {
  return der.set(der.sequence(der.objectIdentifier(oid), der.utf8String(text)));
}

interface SignatureAlgorithm {
  readonly identifier: Buffer;
  /** Null for an algorithm that has its own. */
  readonly hash: string | null;
}

const ECDSA = ownKeyMap<readonly [oid: string, hash: string]>({
  secp224r1: ['1.2.840.10045.4.3.2', 'sha256'],
  prime256v1: ['1.2.840.10045.4.3.2', 'sha256'],
  secp384r1: ['1.2.840.10045.4.3.3', 'sha384'],
  secp521r1: ['1.2.840.10045.4.3.4', 'sha512'],
});
const RSA_SHA256 = '1.2.840.113549.1.1.11';
const ED25519 = '1.3.101.112';

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): SignatureAlgorithm {
  if (asymmetricKeyType === 'rsa') {
    // The parameters are there, and nothing, as RFC 4055 asks for.
    return { identifier: der.sequence(der.objectIdentifier(RSA_SHA256), der.nothing()), hash: 'sha256' };
  }
  if (asymmetricKeyType === 'ed25519') {
    return { identifier: der.sequence(der.objectIdentifier(ED25519)), hash: null };
  }
  const curve = asymmetricKeyType === 'ec' ? (asymmetricKeyDetails?.namedCurve ?? '') : '';
  const [oid, hash] = ECDSA.get(curve) ?? [];
  if (oid === undefined || hash === undefined) {
    throw new Error(
      `certificates are signed with RSA, elliptic and Ed25519 keys, not ${curve === '' ? String(asymmetricKeyType) : curve}`,
    );
  }
  return { identifier: der.sequence(der.objectIdentifier(oid)), hash };
}

/** Positive and never zero: the first bit is off, the second on. */
function randomSerial(): Buffer {
  const serial = randomBytes(SERIAL_BYTES);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return serial;
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
