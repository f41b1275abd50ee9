import type { KeyObject } from 'node:crypto';
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import type { Clock } from '../concurrency/clock';
import { systemClock } from '../concurrency/clock';
import * as der from './der';
import { ipBytes } from './ip-bytes';

/** A certificate and its private key (ECDSA P-256, PKCS #8), both PEM. */
export interface KeyedCertificate {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

export interface CaOptions {
  readonly commonName: string;
  readonly validDays: number;
  readonly clock?: Clock;
}

export interface IssueOptions {
  readonly commonName: string;
  /** For client certificates: the groups of the user. */
  readonly organizations?: readonly string[];
  /** DNS names and IP addresses the certificate stands for. */
  readonly hosts?: readonly string[];
  readonly usages: readonly ('server' | 'client')[];
  readonly validDays: number;
  readonly clock?: Clock;
}

const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
} as const;

const KEY_USAGE = { digitalSignature: 0, certificateSign: 5, crlSign: 6 } as const;
const GENERAL_NAME = { dns: 2, ip: 7 } as const;
const X509_V3 = 2;
const SERIAL_BYTES = 16;
const DAY_MS = 86_400_000;
/** Clocks differ a little between machines; a certificate is valid from a moment before it was made. */
const BACKDATE_MS = 300_000;

/** A new certificate authority with its own key, signed by itself. */
export function makeCa({ commonName, validDays, clock = systemClock }: CaOptions): KeyedCertificate {
  const keys = newKeys();
  const subject = distinguishedName(commonName, []);
  return certify({
    subject,
    issuer: subject,
    publicKey: keys.publicKey,
    privateKey: keys.privateKey,
    signingKey: keys.privateKey,
    validity: validity(clock, validDays),
    extensions: [
      extension(OID.basicConstraints, der.sequence(der.boolean(true)), 'critical'),
      extension(
        OID.keyUsage,
        der.namedBits([KEY_USAGE.digitalSignature, KEY_USAGE.certificateSign, KEY_USAGE.crlSign]),
        'critical',
      ),
    ],
  });
}

/** A new leaf certificate with its own key, signed by `ca`. Throws if the authority's PEM cannot be read. */
export function issueCertificate(ca: KeyedCertificate, options: IssueOptions): KeyedCertificate {
  const { commonName, organizations = [], hosts = [], usages, validDays, clock = systemClock } = options;
  const keys = newKeys();
  return certify({
    subject: distinguishedName(commonName, organizations),
    issuer: subjectOf(new X509Certificate(ca.certificatePem)),
    publicKey: keys.publicKey,
    privateKey: keys.privateKey,
    signingKey: createPrivateKey(ca.privateKeyPem),
    validity: validity(clock, validDays),
    extensions: [
      extension(OID.basicConstraints, der.sequence(), 'critical'),
      extension(OID.keyUsage, der.namedBits([KEY_USAGE.digitalSignature]), 'critical'),
      extension(
        OID.extendedKeyUsage,
        der.sequence(...usages.map((usage) => der.objectIdentifier(OID[usage]))),
      ),
      ...(hosts.length === 0
        ? []
        : [extension(OID.subjectAltName, der.sequence(...[...new Set(hosts)].map(generalName)))]),
    ],
  });
}

interface CertificateParts {
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly signingKey: KeyObject;
  readonly validity: Buffer;
  readonly extensions: readonly Buffer[];
}

function certify(parts: CertificateParts): KeyedCertificate {
  const algorithm = der.sequence(der.objectIdentifier(OID.ecdsaWithSha256));
  const publicKeyInfo = parts.publicKey.export({ type: 'spki', format: 'der' });
  const identifiers = [
    extension(OID.subjectKeyIdentifier, der.octetString(keyIdentifier(parts.publicKey))),
    extension(
      OID.authorityKeyIdentifier,
      der.sequence(der.implicit(0, keyIdentifier(createPublicKey(parts.signingKey)))),
    ),
  ];
  const toBeSigned = der.sequence(
    der.explicit(0, der.integer(X509_V3)),
    der.integer(randomSerial()),
    algorithm,
    parts.issuer,
    parts.validity,
    parts.subject,
    publicKeyInfo,
    der.explicit(3, der.sequence(...parts.extensions, ...identifiers)),
  );
  const signature = der.bitString(sign('sha256', toBeSigned, parts.signingKey));
  return {
    certificatePem: pem(der.sequence(toBeSigned, algorithm, signature)),
    privateKeyPem: parts.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

/** Positive and never zero: the first bit is off, the second on. */
function randomSerial(): Buffer {
  const serial = randomBytes(SERIAL_BYTES);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return serial;
}

function keyIdentifier(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
}

function validity(clock: Clock, days: number): Buffer {
  const from = clock.now() - BACKDATE_MS;
  return der.sequence(der.time(from), der.time(clock.now() + days * DAY_MS));
}

function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  return der.sequence(
    ...organizations.map((organization) => nameAttribute(OID.organization, organization)),
    nameAttribute(OID.commonName, commonName),
  );
}

function nameAttribute(oid: string, text: string): Buffer {
  return der.set(der.sequence(der.objectIdentifier(oid), der.utf8String(text)));
}

/** The subject of an authority, as the same bytes it has there: a chain is found by comparing bytes. */
function subjectOf(certificate: X509Certificate): Buffer {
  return der.nthElement(certificate.raw, [0, 5]);
}

function generalName(host: string): Buffer {
  return isIP(host) === 0
    ? der.implicit(GENERAL_NAME.dns, Buffer.from(host, 'latin1'))
    : der.implicit(GENERAL_NAME.ip, ipBytes(host));
}

function extension(oid: string, value: Buffer, critical?: 'critical'): Buffer {
  return der.sequence(
    der.objectIdentifier(oid),
    ...(critical === undefined ? [] : [der.boolean(true)]),
    der.octetString(value),
  );
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
