import { createHash, X509Certificate } from 'node:crypto';
import { isAcceptedKey } from '../../../../shared/certs/accepted-keys';
import type { DerValue } from '../../../../shared/certs/der-reader';
import { DER_TAG, derChildren, derContextTag, derText, derValues } from '../../../../shared/certs/der-reader';

/** A certificate with everything that is asked about it when a chain is verified. */
export interface Certificate {
  readonly x509: X509Certificate;
  readonly der: Buffer;
  /** The last one of the subject, as everybody else takes it; empty where there is none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** It says that it may issue others. */
  readonly isAuthority: boolean;
  /** It is of the version that cannot say so: it may be trusted as an authority, and is none by itself. */
  readonly isOldVersion: boolean;
  /** How many authorities may stand between it and the end of a chain; undefined for any number. */
  readonly pathLengthMax: number | undefined;
  /** What the certificate may be used for, by object identifier; undefined for anything. */
  readonly extendedUsages: readonly string[] | undefined;
  /** Digest of its subject and its key: whoever has both in common is one issuer, whatever else their certificates say. */
  readonly subjectAndKey: string;
  /** Its key is of a kind and size that certificates may have. */
  readonly hasAcceptedKey: boolean;
  /** False for one signed with an algorithm that is broken, or that nobody here knows. */
  readonly isSignedSoundly: boolean;
  /** It restricts the names below it, or is not to be used by whoever does not understand something in it. */
  readonly hasUncheckedLimits: boolean;
}

/** Object identifiers, as the bytes of their DER in hexadecimal. */
const COMMON_NAME = '550403';
const ORGANIZATION = '55040a';
const BASIC_CONSTRAINTS = '551d13';
const NAME_CONSTRAINTS = '551d1e';
/** Extensions that are understood, or that say nothing about whether a chain is good: key usage, names, policies, where to ask. */
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([
  BASIC_CONSTRAINTS,
  '551d0e',
  '551d0f',
  '551d11',
  '551d1f',
  '551d20',
  '551d23',
  '551d25',
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

/** Throws an Error for a certificate that node:crypto could read and that is malformed all the same. */
export function certificateOf(x509: X509Certificate): Certificate {
  const der = x509.raw;
  const [whole] = derValues(der);
  const [toBeSigned, algorithm] = derChildren(whole, DER_TAG.sequence);
  const fields = derChildren(toBeSigned, DER_TAG.sequence);
  // The version is left out of the oldest certificates, which have no extensions.
  const hasVersion = fields[0]?.tag === derContextTag(0);
  const first = hasVersion ? 1 : 0;
  const [notBefore, notAfter] = derChildren(fields[first + 3], DER_TAG.sequence);
  const [subject, publicKeyInfo] = fields.slice(first + 4);
  const extensions = extensionsOf(fields.find(({ tag }) => tag === derContextTag(3)));
  const constraints = extensions.find(({ id }) => id === BASIC_CONSTRAINTS);
  const attributes = attributesOf(subject);
  return {
    x509,
    der,
    commonName: attributes.findLast(({ id }) => id === COMMON_NAME)?.text ?? '',
    organizations: attributes.filter(({ id }) => id === ORGANIZATION).map(({ text }) => text),
    notBeforeMs: timeOf(notBefore),
    notAfterMs: timeOf(notAfter),
    isAuthority: x509.ca,
    isOldVersion: !hasVersion,
    pathLengthMax: pathLengthOf(constraints),
    extendedUsages: usagesOf(x509),
    subjectAndKey: createHash('sha256')
      .update(subject?.whole ?? '')
      .update(publicKeyInfo?.whole ?? '')
      .digest('base64'),
    hasAcceptedKey: isAcceptedKey(publicKeyInfo),
    isSignedSoundly: isSound(algorithm),
    hasUncheckedLimits: extensions.some(
      ({ id, isCritical }) => id === NAME_CONSTRAINTS || (isCritical && !KNOWN_EXTENSIONS.has(id)),
    ),
  };
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** All certificates of a PEM text; blocks of other kinds are passed over. Throws an Error when there is none, or one is malformed. */
export function certificatesOfPem(pem: string): readonly Certificate[] {
  const blocks = pem.match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new Error('there is no certificate in PEM form');
  return blocks.map((block) => certificateOf(new X509Certificate(block)));
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

/** In the two forms that RFC 5280 allows, to the second and in UTC. The runtime's text of a time is none to be read: it has others, too. */
function timeOf(value: DerValue | undefined): number {
  const digits = value?.content.toString('latin1') ?? '';
  const century = Number(digits.slice(0, 2)) < FIRST_YEAR_OF_1900S ? '20' : '19';
  const whole = value?.tag === DER_TAG.utcTime ? `${century}${digits}` : digits;
  const isTime = value?.tag === DER_TAG.utcTime || value?.tag === DER_TAG.generalizedTime;
  const text = whole.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6.000Z');
  const ms = Date.parse(text);
  // The 30th of February would be taken for the 2nd of March.
  if (!isTime || Number.isNaN(ms) || new Date(ms).toISOString() !== text) throw new Error('a malformed time');
  return ms;
}

/** A year of two digits is one of 1950 to 2049. */
const FIRST_YEAR_OF_1900S = 50;

/** The types do not say so, but a certificate need not have any. */
function usagesOf({ keyUsage }: { readonly keyUsage?: readonly string[] }): readonly string[] | undefined {
  return keyUsage;
}

/** BasicConstraints ::= SEQUENCE { cA BOOLEAN DEFAULT FALSE, pathLenConstraint INTEGER OPTIONAL }. */
function pathLengthOf(extension: Extension | undefined): number | undefined {
  if (extension === undefined) return undefined;
  const [constraints] = derValues(extension.value);
  const length = derChildren(constraints, DER_TAG.sequence).find(({ tag }) => tag === DER_TAG.integer);
  if (length === undefined) return undefined;
  const [first] = length.content;
  if (first === undefined || first >= NEGATIVE) throw new Error('a malformed path length');
  return Number(`0x${length.content.toString('hex')}`);
}

const NEGATIVE = 0x80;

/** With PSS the digest is a parameter, and SHA-1 where it is left out. */
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
