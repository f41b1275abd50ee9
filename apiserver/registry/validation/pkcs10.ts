import { createPublicKey, verify } from 'node:crypto';

/** The parts of one DER value. */
interface Der {
  readonly tag: number;
  readonly content: Buffer;
  /** With its tag and length. */
  readonly whole: Buffer;
}

const SEQUENCE = 0x30;
const BIT_STRING = 0x03;
const OBJECT_IDENTIFIER = 0x06;

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

const PEM = /-----BEGIN ([^-\n]+)-----\r?\n([A-Za-z0-9+/=\s]*)-----END \1-----/;

/** Why the PEM text is no certificate signing request whose signature is that of its own key; undefined for a good one. */
export function certificateRequestProblem(pem: string): string | undefined {
  const [, type, base64 = ''] = PEM.exec(pem) ?? [];
  if (type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST';
  try {
    return isSignedByItself(Buffer.from(base64, 'base64')) ? undefined : 'the signature does not match';
  } catch (error) {
    return `malformed request: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const SET = 0x31;
/** The object identifier of an organization in a name, in hexadecimal. */
const ORGANIZATION = '55040a';

/** The organizations in the subject of a request, which become groups; none where the text is no request. */
export function certificateRequestOrganizations(pem: string): readonly string[] {
  const [, type, base64 = ''] = PEM.exec(pem) ?? [];
  if (type !== 'CERTIFICATE REQUEST') return [];
  try {
    const [request] = elements(Buffer.from(base64, 'base64'));
    const [info] = children(request, SEQUENCE);
    const [, subject] = children(info, SEQUENCE);
    return children(subject, SEQUENCE)
      .flatMap((names) => children(names, SET))
      .map((name) => children(name, SEQUENCE))
      .filter(([kind]) => kind?.content.toString('hex') === ORGANIZATION)
      .map(([, value]) => value?.content.toString('utf8') ?? '');
  } catch {
    // What cannot be read has been refused by validation, or came from a version that is not strict about it.
    return [];
  }
}

function isSignedByItself(der: Buffer): boolean {
  const [request] = elements(der);
  const [info, algorithm, signature] = children(request, SEQUENCE);
  const [, , publicKey] = children(info, SEQUENCE);
  const [identifier] = children(algorithm, SEQUENCE);
  if (info === undefined || publicKey === undefined || signature?.tag !== BIT_STRING) {
    throw new Error('a part is missing');
  }
  if (identifier?.tag !== OBJECT_IDENTIFIER) throw new Error('no signature algorithm');
  const digest = DIGESTS.get(identifier.content.toString('hex'));
  if (digest === undefined) throw new Error('unknown signature algorithm');
  const key = createPublicKey({ key: publicKey.whole, format: 'der', type: 'spki' });
  // The first byte of a bit string counts the unused bits of its last byte.
  return verify(digest, info.whole, key, signature.content.subarray(1));
}

function children(value: Der | undefined, tag: number): readonly Der[] {
  if (value?.tag !== tag) throw new Error('not the structure of a request');
  return elements(value.content);
}

function elements(bytes: Buffer): readonly Der[] {
  const found: Der[] = [];
  for (let at = 0; at < bytes.length;) {
    const { headerBytes, contentBytes } = lengths(bytes, at);
    const end = at + headerBytes + contentBytes;
    if (end > bytes.length) throw new Error('cut off');
    found.push({
      tag: bytes.readUInt8(at),
      content: bytes.subarray(at + headerBytes, end),
      whole: bytes.subarray(at, end),
    });
    at = end;
  }
  return found;
}

const LONG_FORM = 0x80;
const LENGTH_BYTES_MAX = 4;

function lengths(bytes: Buffer, at: number): { readonly headerBytes: number; readonly contentBytes: number } {
  const first = bytes.readUInt8(at + 1);
  if (first < LONG_FORM) return { headerBytes: 2, contentBytes: first };
  const count = first - LONG_FORM;
  if (count === 0 || count > LENGTH_BYTES_MAX) throw new Error('bad length');
  return { headerBytes: 2 + count, contentBytes: bytes.readUIntBE(at + 2, count) };
}
