import type { KeyObject } from 'node:crypto';
import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { isIPv4 } from 'node:net';
import type { Clock } from '../concurrency/clock';
import { systemClock } from '../concurrency/clock';
import * as der from './der';
import { ipBytes } from '../meta/ip-address';
import { signingAuthorityOf } from './sign-certificate-request';
import type { Validity } from './signed-certificate';
import {
  authorityKeyIdentifier,
  BACKDATE_MS,
  EXTENSION,
  extension,
  GENERAL_NAME,
  KEY_USAGE_BIT,
  nameAttribute,
  NAME_ATTRIBUTE,
  signedCertificate,
} from './signed-certificate';

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

const PURPOSE = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;
const DAY_MS = 86_400_000;

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
      extension(EXTENSION.basicConstraints, der.sequence(der.boolean(true)), 'critical'),
      extension(
        EXTENSION.keyUsage,
        der.namedBits([KEY_USAGE_BIT.digitalSignature, KEY_USAGE_BIT.certificateSign, KEY_USAGE_BIT.crlSign]),
        'critical',
      ),
    ],
  });
}

/** A new leaf certificate with its own key, signed by `ca`. Throws if the authority's PEM cannot be read, or its key is another's. */
export function issueCertificate(ca: KeyedCertificate, options: IssueOptions): KeyedCertificate {
  const { commonName, organizations = [], hosts = [], usages, validDays, clock = systemClock } = options;
  const keys = newKeys();
  const authority = signingAuthorityOf(ca.certificatePem, ca.privateKeyPem);
  return certify({
    subject: distinguishedName(commonName, organizations),
    issuer: authority.subject,
    publicKey: keys.publicKey,
    privateKey: keys.privateKey,
    signingKey: authority.privateKey,
    validity: validity(clock, validDays),
    extensions: [
      extension(EXTENSION.basicConstraints, der.sequence(), 'critical'),
      extension(EXTENSION.keyUsage, der.namedBits([KEY_USAGE_BIT.digitalSignature]), 'critical'),
      extension(
        EXTENSION.extendedKeyUsage,
        der.sequence(...usages.map((usage) => der.objectIdentifier(PURPOSE[usage]))),
      ),
      ...(hosts.length === 0
        ? []
        : [extension(EXTENSION.subjectAltName, der.sequence(...[...new Set(hosts)].map(generalName)))]),
    ],
  });
}

interface CertificateParts {
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly signingKey: KeyObject;
  readonly validity: Validity;
  readonly extensions: readonly Buffer[];
}

function certify(parts: CertificateParts): KeyedCertificate {
  const { subject, issuer, publicKey, privateKey, signingKey } = parts;
  return {
    certificatePem: signedCertificate({
      subject,
      issuer,
      signingKey,
      validity: parts.validity,
      publicKeyInfo: publicKey.export({ type: 'spki', format: 'der' }),
      extensions: [
        ...parts.extensions,
        extension(EXTENSION.subjectKeyIdentifier, der.octetString(keyIdentifier(publicKey))),
        authorityKeyIdentifier(keyIdentifier(createPublicKey(signingKey))),
      ],
    }),
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function keyIdentifier(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
}

function validity(clock: Clock, days: number): Validity {
  return { fromMs: clock.now() - BACKDATE_MS, untilMs: clock.now() + days * DAY_MS };
}

function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  return der.sequence(
    ...organizations.map((organization) => nameAttribute(NAME_ATTRIBUTE.organization, organization)),
    nameAttribute(NAME_ATTRIBUTE.commonName, commonName),
  );
}

function generalName(host: string): Buffer {
  // Not isIP, which compiles an expression for IPv6 addresses in 25 ms. No DNS name has a colon.
  return host.includes(':') || isIPv4(host)
    ? der.implicit(GENERAL_NAME.ip, ipBytes(host))
    : der.implicit(GENERAL_NAME.dns, Buffer.from(host, 'latin1'));
}
