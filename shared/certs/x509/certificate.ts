import { createHash, X509Certificate } from 'node:crypto';
import { isAcceptedKey } from '../accepted-keys';
import type { AlternativeNames } from './alternative-names';
import { alternativeNamesOf } from './alternative-names';
import type { NameConstraints } from './name-constraints';
import { nameConstraintsOf } from './name-constraints';
import type { DerValue } from '../der-reader';
import { DER_TAG, derChildren, derContextTag, derText, derValues } from '../der-reader';

/** A certificate with the parsed fields that chain verification needs. */
export interface Certificate {
  readonly x509: X509Certificate;
  readonly der: Buffer;
  /** The names as whole DER values. */
  readonly subject: Buffer;
  readonly issuer: Buffer;
  /** The last common name of the subject, as other implementations use; empty if there is none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Undefined: no such extension. */
  readonly alternativeNames: AlternativeNames | undefined;
  readonly nameConstraints: NameConstraints | undefined;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** Basic constraints: CA. */
  readonly isAuthority: boolean;
  /** X.509 v1 without basic constraints: an authority only if it is a trust anchor. */
  readonly isOldVersion: boolean;
  /** Whether the key usage, if there is one, has the signing of certificates. */
  readonly maySignCertificates: boolean;
  /** The maximum of intermediates below it; undefined: any number. */
  readonly pathLengthMax: number | undefined;
  /** Extended key usages by object identifier; undefined: any. */
  readonly extendedUsages: readonly string[] | undefined;
  /** A digest of subject and key, which identify an issuer across its certificates. */
  readonly subjectAndKey: string;
  /** Whether key type and size are accepted. */
  readonly hasAcceptedKey: boolean;
  /** False for a broken or unknown signature algorithm. */
  readonly isSignedSoundly: boolean;
  readonly hasUnknownCriticalExtension: boolean;
}

/** Object identifiers, as the bytes of their DER in hexadecimal. */
const COMMON_NAME = '550403';
const ORGANIZATION = '55040a';
const BASIC_CONSTRAINTS = '551d13';
const NAME_CONSTRAINTS = '551d1e';
const KEY_USAGE = '551d0f';
const ALTERNATIVE_NAMES = '551d11';
const EXTENDED_KEY_USAGE = '551d25';
/** Critical extensions that do not make a chain invalid; those without a name here are policies and revocation sources. */
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([
  BASIC_CONSTRAINTS,
  KEY_USAGE,
  ALTERNATIVE_NAMES,
  NAME_CONSTRAINTS,
  '551d0e',
  '551d1f',
  '551d20',
  '551d23',
  EXTENDED_KEY_USAGE,
]);
const RSA_PSS = '2a864886f70d01010a';
const SHA_2: ReadonlySet<string> = new Set([
  '608648016503040201',
  '608648016503040202',
  '608648016503040203',
]);
/** RSA and ECDSA over SHA-2, and Ed25519. */
const SOUND_SIGNATURES: ReadonlySet<string> = new Set([
  '2a864886f70d01010b',
  '2a864886f70d01010c',
  '2a864886f70d01010d',
  '2a8648ce3d040302',
  '2a8648ce3d040303',
  '2a8648ce3d040304',
  '2b6570',
]);

/** Parses a certificate. Throws an Error for a malformed one that node:crypto accepts. */
export function certificateOf(x509: X509Certificate): Certificate {
  const der = x509.raw;
  const [whole] = derValues(der);
  const [toBeSigned, algorithm] = derChildren(whole, DER_TAG.sequence);
  const fields = derChildren(toBeSigned, DER_TAG.sequence);
  // X.509 v1 certificates have no version field and no extensions.
  const hasVersion = fields[0]?.tag === derContextTag(0);
  const first = hasVersion ? 1 : 0;
  const [notBefore, notAfter] = derChildren(fields[first + 3], DER_TAG.sequence);
  const issuer = fields[first + 2];
  const [subject, publicKeyInfo] = fields.slice(first + 4);
  const extensions = extensionsOf(fields.find(({ tag }) => tag === derContextTag(3)));
  if (new Set(extensions.map(({ id }) => id)).size < extensions.length)
    throw new Error('duplicate extensions');
  const valueOf = (wanted: string): Buffer | undefined => extensions.find(({ id }) => id === wanted)?.value;
  const [names, limits] = [valueOf(ALTERNATIVE_NAMES), valueOf(NAME_CONSTRAINTS)];
  const nameConstraints = limits === undefined ? undefined : nameConstraintsOf(limits);
  const attributes = attributesOf(subject);
  return {
    x509,
    der,
    subject: subject?.whole ?? Buffer.alloc(0),
    issuer: issuer?.whole ?? Buffer.alloc(0),
    commonName: attributes.findLast(({ id }) => id === COMMON_NAME)?.text ?? '',
    organizations: attributes.filter(({ id }) => id === ORGANIZATION).map(({ text }) => text),
    alternativeNames: names === undefined ? undefined : alternativeNamesOf(names),
    nameConstraints,
    notBeforeMs: timeOf(notBefore),
    notAfterMs: timeOf(notAfter),
    isAuthority: x509.ca,
    isOldVersion: !hasVersion,
    maySignCertificates: maySign(valueOf(KEY_USAGE)),
    pathLengthMax: pathLengthOf(valueOf(BASIC_CONSTRAINTS)),
    extendedUsages: usagesOf(x509, valueOf(EXTENDED_KEY_USAGE)),
    subjectAndKey: createHash('sha256')
      .update(subject?.whole ?? '')
      .update(publicKeyInfo?.whole ?? '')
      .digest('base64'),
    hasAcceptedKey: isAcceptedKey(publicKeyInfo),
    isSignedSoundly: isSound(algorithm),
    hasUnknownCriticalExtension: extensions.some(
      ({ id, isCritical }) =>
        isCritical &&
        (!KNOWN_EXTENSIONS.has(id) || (id === NAME_CONSTRAINTS && nameConstraints?.hasOtherKinds === true)),
    ),
  };
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** Parses all certificates of a PEM text and ignores other blocks. Throws an Error if there is none, or one is malformed. */
export function certificatesOfPem(pem: string): readonly Certificate[] {
  const blocks = pemCertificates(pem);
  if (blocks.length === 0) throw new Error('no certificate in PEM form');
  return blocks.map((block) => certificateOf(new X509Certificate(block)));
}

/** Returns the blocks of certificates of a PEM text. */
export function pemCertificates(pem: string): readonly string[] {
  return pem.match(PEM_CERTIFICATE) ?? [];
}

interface Attribute {
  readonly id: string;
  readonly text: string;
}

function attributesOf(subject: DerValue | undefined): readonly Attribute[] {
  return derChildren(subject, DER_TAG.sequence)
    .flatMap((names) => derChildren(names, DER_TAG.set))
    .map((name) => derChildren(name, DER_TAG.sequence))
    .map(([id, value]) => ({
      id: id?.content.toString('hex') ?? '',
      text: value === undefined ? '' : derText(value),
    }));
}

interface Extension {
  readonly id: string;
  readonly isCritical: boolean;
  readonly value: Buffer;
}

function extensionsOf(wrapper: DerValue | undefined): readonly Extension[] {
  if (wrapper === undefined) return [];
  const [list] = derValues(wrapper.content);
  return derChildren(list, DER_TAG.sequence).map((extension) => {
    const [id, ...rest] = derChildren(extension, DER_TAG.sequence);
    const value = rest.at(-1);
    if (id === undefined || value?.tag !== DER_TAG.octetString) throw new Error('a malformed extension');
    const isCritical = rest.length > 1 && rest[0]?.tag === DER_TAG.boolean && rest[0].content[0] !== 0;
    return { id: id.content.toString('hex'), isCritical, value: value.content };
  });
}

/** Parses a time in the two forms of RFC 5280, in seconds and UTC. node:crypto accepts other forms too, so that its text is not used. */
function timeOf(value: DerValue | undefined): number {
  const digits = value?.content.toString('latin1') ?? '';
  const century = Number(digits.slice(0, 2)) < FIRST_YEAR_OF_1900S ? '20' : '19';
  const whole = value?.tag === DER_TAG.utcTime ? `${century}${digits}` : digits;
  const isTime = value?.tag === DER_TAG.utcTime || value?.tag === DER_TAG.generalizedTime;
  const text = whole.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6.000Z');
  const ms = Date.parse(text);
  // Reject dates such as February 30, which Date.parse would move to March 2.
  if (!isTime || Number.isNaN(ms) || new Date(ms).toISOString() !== text) throw new Error('a malformed time');
  return ms;
}

/** A two-digit year is between 1950 and 2049. */
const FIRST_YEAR_OF_1900S = 50;

/** The property is undefined for a malformed extension, contrary to the type declarations. An empty list allows any use, as in Go. */
function usagesOf(
  { keyUsage }: { readonly keyUsage?: readonly string[] },
  value: Buffer | undefined,
): readonly string[] | undefined {
  if (value !== undefined && keyUsage === undefined) throw new Error('a malformed extended key usage');
  return keyUsage?.length === 0 ? undefined : keyUsage;
}

/** BasicConstraints ::= SEQUENCE { cA BOOLEAN DEFAULT FALSE, pathLenConstraint INTEGER OPTIONAL }. */
function pathLengthOf(value: Buffer | undefined): number | undefined {
  if (value === undefined) return undefined;
  const [constraints] = derValues(value);
  const length = derChildren(constraints, DER_TAG.sequence).find(({ tag }) => tag === DER_TAG.integer);
  if (length === undefined) return undefined;
  const [first] = length.content;
  if (first === undefined || first >= NEGATIVE) throw new Error('a malformed path length');
  return Number(`0x${length.content.toString('hex')}`);
}

const NEGATIVE = 0x80;

/** KeyUsage ::= BIT STRING; the first byte of the content counts unused bits. Without any bit it says nothing, as for Go. */
function maySign(value: Buffer | undefined): boolean {
  const [usage] = value === undefined ? [] : derValues(value);
  const bits = usage?.content.subarray(1) ?? Buffer.alloc(0);
  return bits.every((byte) => byte === 0) || ((bits[0] ?? 0) & SIGNS_CERTIFICATES) !== 0;
}

const SIGNS_CERTIFICATES = 0x04;

/** For RSA-PSS the digest is a parameter with the default SHA-1. */
function isSound(algorithm: DerValue | undefined): boolean {
  const id = identifierOf(algorithm);
  if (id !== RSA_PSS) return SOUND_SIGNATURES.has(id);
  const [, parameters] = derChildren(algorithm, DER_TAG.sequence);
  const digest = derChildren(parameters, DER_TAG.sequence).find(({ tag }) => tag === derContextTag(0));
  return digest !== undefined && SHA_2.has(identifierOf(derValues(digest.content)[0]));
}

function identifierOf(algorithm: DerValue | undefined): string {
  const [id] = derChildren(algorithm, DER_TAG.sequence);
  return id?.tag === DER_TAG.objectIdentifier ? id.content.toString('hex') : '';
}
