import { createPublicKey, verify } from 'node:crypto';
import { isAcceptedKey } from './accepted-keys';
import type { DerValue } from './der-reader';
import { DER_TAG, derChildren, derContextTag, derText, derValues } from './der-reader';

/** What a certificate signing request asks for (PKCS #10, RFC 2986). */
export interface CertificateRequest {
  /** In their order; of the subject. */
  readonly attributes: readonly NameAttribute[];
  /** The last one of the subject, as everybody else takes it; empty where there is none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly alternativeNames: AlternativeNames;
  /** The whole SubjectPublicKeyInfo. */
  readonly publicKeyInfo: Buffer;
  /** Whether the key that is asked for has made the signature. Throws an Error for an algorithm or a key that is not accepted. */
  readonly isSignedByItself: () => boolean;
}

export interface NameAttribute {
  /** The object identifier, as the bytes of its DER in hexadecimal. */
  readonly id: string;
  readonly text: string;
}

/** Further names. Names of other kinds are left out: nothing here gives them to anybody. */
export interface AlternativeNames {
  readonly dns: readonly string[];
  readonly email: readonly string[];
  /** 4 or 16 bytes each. */
  readonly ip: readonly Buffer[];
  readonly uri: readonly string[];
}

/** The PEM text is no certificate signing request that can be read. */
export class CertificateRequestError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'CertificateRequestError';
  }
}

/** Of a request as PEM. One with a hundred names and a large key has 8 KB; reading one of this length takes a few milliseconds. */
export const CERTIFICATE_REQUEST_BYTES_MAX = 32_768;

const PEM = /-----BEGIN ([^-\n]+)-----\r?\n([A-Za-z0-9+/=\s]*)-----END \1-----/;

/** Reads the first block of a PEM text. Nothing is said yet about who has signed it. Throws CertificateRequestError. */
export function parseCertificateRequest(pem: string): CertificateRequest {
  if (pem.length > CERTIFICATE_REQUEST_BYTES_MAX) {
    throw new CertificateRequestError(
      `the request is longer than ${String(CERTIFICATE_REQUEST_BYTES_MAX)} bytes`,
    );
  }
  const [, type, base64 = ''] = PEM.exec(pem) ?? [];
  if (type !== 'CERTIFICATE REQUEST') {
    throw new CertificateRequestError('PEM block type must be CERTIFICATE REQUEST');
  }
  try {
    return requestOf(Buffer.from(base64, 'base64'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CertificateRequestError(`malformed request: ${why}`, error);
  }
}

/** Object identifiers, as the bytes of their DER in hexadecimal. */
const COMMON_NAME = '550403';
const ORGANIZATION = '55040a';
const EXTENSION_REQUEST = '2a864886f70d01090e';
const SUBJECT_ALT_NAME = '551d11';

function requestOf(bytes: Buffer): CertificateRequest {
  const [request, ...rest] = derValues(bytes);
  if (rest.length > 0) throw new Error('something stands behind it');
  const [info, algorithm, signature] = derChildren(request, DER_TAG.sequence);
  const [, subject, publicKey, ...others] = derChildren(info, DER_TAG.sequence);
  if (info === undefined || publicKey?.tag !== DER_TAG.sequence || signature?.tag !== DER_TAG.bitString) {
    throw new Error('a part is missing');
  }
  const attributes = attributesOf(subject);
  return {
    attributes,
    commonName: attributes.findLast(({ id }) => id === COMMON_NAME)?.text ?? '',
    organizations: attributes.filter(({ id }) => id === ORGANIZATION).map(({ text }) => text),
    alternativeNames: alternativeNamesOf(others.find(({ tag }) => tag === derContextTag(0))),
    publicKeyInfo: publicKey.whole,
    // The first byte of a bit string counts the unused bits of its last byte.
    isSignedByItself: () =>
      isSigned({ info, publicKey, algorithm, signature: signature.content.subarray(1) }),
  };
}

function attributesOf(name: DerValue | undefined): readonly NameAttribute[] {
  return derChildren(name, DER_TAG.sequence)
    .flatMap((names) => derChildren(names, DER_TAG.set))
    .map((attribute) => derChildren(attribute, DER_TAG.sequence))
    .map(([id, value]) => {
      if (id === undefined || value === undefined) throw new Error('a name without a value');
      return { id: id.content.toString('hex'), text: derText(value) };
    });
}

function alternativeNamesOf(attributes: DerValue | undefined): AlternativeNames {
  const [extension, second] = extensionsOf(attributes).filter(({ id }) => id === SUBJECT_ALT_NAME);
  if (second !== undefined) throw new Error('two lists of further names');
  const found = { dns: [] as string[], email: [] as string[], ip: [] as Buffer[], uri: [] as string[] };
  if (extension === undefined) return found;
  const [list] = derValues(extension.value);
  for (const { tag, content } of derChildren(list, DER_TAG.sequence)) {
    if (tag === TAG.ip) found.ip.push(addressOf(content));
    else if (tag === TAG.dns) found.dns.push(asciiOf(content));
    else if (tag === TAG.email) found.email.push(asciiOf(content));
    else if (tag === TAG.uri) found.uri.push(asciiOf(content));
  }
  return found;
}

/** Of the names in a list of further names. */
const TAG = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 } as const;
const ADDRESS_BYTES: readonly number[] = [4, 16];

function addressOf(bytes: Buffer): Buffer {
  if (!ADDRESS_BYTES.includes(bytes.length)) throw new Error('an address of a length that none has');
  return bytes;
}

function asciiOf(bytes: Buffer): string {
  if (bytes.some((byte) => byte > ASCII_MAX)) throw new Error('a further name that is not ASCII');
  return bytes.toString('latin1');
}

const ASCII_MAX = 0x7f;

/** Attributes ::= SET OF SEQUENCE { identifier, SET OF value }; the extensions that are asked for are the value of one of them. */
function extensionsOf(
  attributes: DerValue | undefined,
): readonly { readonly id: string; readonly value: Buffer }[] {
  if (attributes === undefined) return [];
  return derValues(attributes.content)
    .filter(({ tag }) => tag === DER_TAG.sequence)
    .map((attribute) => derChildren(attribute, DER_TAG.sequence))
    .filter(([id]) => id?.content.toString('hex') === EXTENSION_REQUEST)
    .flatMap(([, values]) => derChildren(values, DER_TAG.set))
    .flatMap((list) => derChildren(list, DER_TAG.sequence))
    .map((extension) => {
      const [id, ...rest] = derChildren(extension, DER_TAG.sequence);
      const value = rest.at(-1);
      if (id === undefined || value?.tag !== DER_TAG.octetString) throw new Error('a malformed extension');
      return { id: id.content.toString('hex'), value: value.content };
    });
}

/** The digest of each signature algorithm, by its object identifier in hexadecimal; null for one that has its own. */
const DIGESTS: ReadonlyMap<string, string | null> = new Map([
  ['2a864886f70d010105', 'sha1'],
  ['2a864886f70d01010b', 'sha256'],
  ['2a864886f70d01010c', 'sha384'],
  ['2a864886f70d01010d', 'sha512'],
  ['2a8648ce3d0401', 'sha1'],
  ['2a8648ce3d040302', 'sha256'],
  ['2a8648ce3d040303', 'sha384'],
  ['2a8648ce3d040304', 'sha512'],
  ['2b6570', null],
]);

interface SignedParts {
  readonly info: DerValue;
  readonly publicKey: DerValue;
  readonly algorithm: DerValue | undefined;
  readonly signature: Buffer;
}

function isSigned({ info, publicKey, algorithm, signature }: SignedParts): boolean {
  const [identifier] = derChildren(algorithm, DER_TAG.sequence);
  if (identifier?.tag !== DER_TAG.objectIdentifier) throw new Error('no signature algorithm');
  const digest = DIGESTS.get(identifier.content.toString('hex'));
  if (digest === undefined) throw new Error('unknown signature algorithm');
  if (!isAcceptedKey(publicKey)) throw new Error('a key of a kind or size that is not accepted');
  const key = createPublicKey({ key: publicKey.whole, format: 'der', type: 'spki' });
  return verify(digest, info.whole, key, signature);
}
