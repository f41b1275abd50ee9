import type { KeyObject } from 'node:crypto';
import { constants, createHash, generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';
import * as der from '../der';
import type { Certificate } from '../x509/certificate';
import { certificateOf } from '../x509/certificate';

/** A certificate of any kind, good or bad, for tests. */
export interface TestCertificate {
  readonly pem: string;
  readonly keyPem: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The subject, as it stands in the certificates that this one issues. */
  readonly subject: Buffer;
  readonly parsed: Certificate;
}

/** What stands above a certificate: its name as DER, and the key that signs. */
export type TestIssuer = Pick<TestCertificate, 'subject' | 'privateKey'>;

export interface TestCertificateOptions {
  readonly commonName?: string;
  readonly organizations?: readonly string[];
  /** Values of the subject that stand before the others: the object identifier, and a string as DER. */
  readonly names?: readonly (readonly [oid: string, value: Buffer])[];
  /** Absent: itself. */
  readonly issuer?: TestIssuer;
  /** Absent: new ones. */
  readonly keys?: Pick<TestCertificate, 'privateKey' | 'publicKey'>;
  /** Signs in the place of the issuer's key. */
  readonly signingKey?: KeyObject;
  readonly hash?: 'sha1' | 'sha256';
  /** Signs with RSA-PSS, for which the signing key has to be of RSA. */
  readonly isPss?: boolean;
  /** Says nothing about being an authority or none. */
  readonly isLeftOpen?: boolean;
  /** Absent: not an authority. */
  readonly authority?: { readonly pathLength?: number };
  /** Of version 1, which has no extensions. */
  readonly isOldVersion?: boolean;
  /** Bits of the key usage; absent: no such extension. */
  readonly keyUsage?: readonly number[];
  /** Absent: no such extension. */
  readonly extendedUsages?: readonly string[];
  readonly notBeforeMs?: number;
  readonly notAfterMs?: number;
  /** Extensions that are made elsewhere: identifier, value and whether it is critical. */
  readonly extensions?: readonly (readonly [oid: string, value: Buffer, isCritical: boolean])[];
  /** The whole element; absent: random and positive. */
  readonly serial?: Buffer;
  /** Whole elements; absent: made of the milliseconds. */
  readonly times?: readonly [notBefore: Buffer, notAfter: Buffer];
  /** The last word on what is signed: takes and gives the whole element. */
  readonly alter?: (toBeSigned: Buffer) => Buffer;
}

/** A certificate that has not been read yet. */
export interface RawCertificate {
  readonly der: Buffer;
  readonly subject: Buffer;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
export const ANY_USAGE = '2.5.29.37.0';
const HOUR_MS = 3_600_000;
const SALT_BYTES = 32;

/** Of signatures, by digest and kind of key. */
const ALGORITHM = {
  sha256: { ec: '1.2.840.10045.4.3.2', rsa: '1.2.840.113549.1.1.11', ed25519: '1.3.101.112' },
  sha1: { ec: '1.2.840.10045.4.1', rsa: '1.2.840.113549.1.1.5', ed25519: '1.3.101.112' },
} as const;

export function testCertificate(options: TestCertificateOptions): TestCertificate {
  const { der: bytes, subject, privateKey, publicKey } = rawCertificate(options);
  const x509 = new X509Certificate(bytes);
  return {
    pem: x509.toString(),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    privateKey,
    publicKey,
    subject,
    parsed: certificateOf(x509),
  };
}

/** The same as bytes only, for what cannot be read. */
export function rawCertificate(options: TestCertificateOptions): RawCertificate {
  const { hash = 'sha256', alter = (toBeSigned) => toBeSigned } = options;
  const { publicKey, privateKey } = options.keys ?? generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = nameOf(options);
  const signingKey = options.signingKey ?? options.issuer?.privateKey ?? privateKey;
  const algorithm = options.isPss === true ? pssAlgorithm(hash) : algorithmOf(signingKey, hash);
  const { notBeforeMs = Date.now() - HOUR_MS, notAfterMs = Date.now() + HOUR_MS } = options;
  const isOld = options.isOldVersion === true;
  const toBeSigned = der.sequence(
    ...(isOld ? [] : [der.explicit(0, der.integer(2))]),
    options.serial ?? der.integer(randomBytes(8)),
    algorithm,
    options.issuer?.subject ?? subject,
    der.sequence(...(options.times ?? [der.time(notBeforeMs), der.time(notAfterMs)])),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(isOld ? [] : [der.explicit(3, der.sequence(...extensionsOf(options)))]),
  );
  const altered = alter(toBeSigned);
  return {
    der: der.sequence(altered, algorithm, der.bitString(signatureOf(altered, signingKey, options))),
    subject,
    privateKey,
    publicKey,
  };
}

function nameOf({ commonName, organizations = [], names = [] }: TestCertificateOptions): Buffer {
  return der.sequence(
    ...names.map(([oid, value]) => der.set(der.sequence(der.objectIdentifier(oid), value))),
    ...organizations.map((text) => attribute('2.5.4.10', text)),
    ...(commonName === undefined ? [] : [attribute('2.5.4.3', commonName)]),
  );
}

function extensionsOf(options: TestCertificateOptions): readonly Buffer[] {
  return [
    ...(options.isLeftOpen === true ? [] : [extension('2.5.29.19', constraints(options.authority), true)]),
    ...(options.keyUsage === undefined
      ? []
      : [extension('2.5.29.15', der.namedBits(options.keyUsage), true)]),
    ...(options.extendedUsages === undefined
      ? []
      : [extension('2.5.29.37', der.sequence(...options.extendedUsages.map(der.objectIdentifier)), false)]),
    ...(options.extensions ?? []).map((each) => extension(...each)),
  ];
}

function algorithmOf(key: KeyObject, hash: 'sha1' | 'sha256'): Buffer {
  const { ec, rsa, ed25519 } = ALGORITHM[hash];
  if (key.asymmetricKeyType === 'rsa') return der.sequence(der.objectIdentifier(rsa), der.nothing());
  return der.sequence(der.objectIdentifier(key.asymmetricKeyType === 'ed25519' ? ed25519 : ec));
}

function signatureOf(
  bytes: Buffer,
  key: KeyObject,
  { hash = 'sha256', isPss }: TestCertificateOptions,
): Buffer {
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: SALT_BYTES };
  const digest = key.asymmetricKeyType === 'ed25519' ? null : hash;
  return sign(digest, bytes, { key, ...(isPss === true ? padding : {}) });
}

/** The digest is a parameter, twice; SHA-1 is what is meant where there is none. */
function pssAlgorithm(hash: 'sha1' | 'sha256'): Buffer {
  const digest = der.sequence(der.objectIdentifier('2.16.840.1.101.3.4.2.1'));
  const generator = der.sequence(der.objectIdentifier('1.2.840.113549.1.1.8'), digest);
  const parameters =
    hash === 'sha1'
      ? der.sequence(der.explicit(2, der.integer(SALT_BYTES)))
      : der.sequence(
          der.explicit(0, digest),
          der.explicit(1, generator),
          der.explicit(2, der.integer(SALT_BYTES)),
        );
  return der.sequence(der.objectIdentifier('1.2.840.113549.1.1.10'), parameters);
}

/** An authority that has signed itself, or that another has. */
export function testAuthority(options: TestCertificateOptions = {}): TestCertificate {
  const commonName = options.commonName ?? createHash('sha1').update(randomBytes(8)).digest('hex');
  return testCertificate({ authority: {}, keyUsage: [5], ...options, commonName });
}

function attribute(oid: string, text: string): Buffer {
  return der.set(der.sequence(der.objectIdentifier(oid), der.utf8String(text)));
}

function constraints(authority: TestCertificateOptions['authority']): Buffer {
  if (authority === undefined) return der.sequence();
  const { pathLength } = authority;
  return der.sequence(der.boolean(true), ...(pathLength === undefined ? [] : [der.integer(pathLength)]));
}

function extension(oid: string, value: Buffer, isCritical: boolean): Buffer {
  return der.sequence(
    der.objectIdentifier(oid),
    ...(isCritical ? [der.boolean(true)] : []),
    der.octetString(value),
  );
}
