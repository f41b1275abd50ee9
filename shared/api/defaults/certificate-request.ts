/** What a certificate request asks to be called. */
export interface RequestedNames {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Kinds of further names that are asked for. */
  readonly alternatives: ReadonlySet<'email' | 'dns' | 'uri' | 'ip'>;
}

/** The names in a certificate request (PEM around PKCS#10, both in base64 as the API has it); undefined when it cannot be read. */
export function requestedNames(request: string): RequestedNames | undefined {
  const pem = PEM.exec(Buffer.from(request, 'base64').toString('latin1'));
  if (pem === null) return undefined;
  const [certificationRequest] = elements(Buffer.from(pem[1] ?? '', 'base64'));
  const [info] = childrenOf(certificationRequest);
  const [, subject, , attributes] = childrenOf(info);
  if (subject === undefined) return undefined;
  const attributesOfSubject = childrenOf(subject).flatMap(childrenOf).map(childrenOf);
  const valuesOf = (identifier: string): readonly string[] =>
    attributesOfSubject
      .filter(([name]) => name?.content.toString('hex') === identifier)
      .map(([, value]) => value?.content.toString('utf8') ?? '');
  return {
    commonName: valuesOf(IDENTIFIER.commonName).at(-1) ?? '',
    organizations: valuesOf(IDENTIFIER.organization),
    alternatives: alternativesOf(attributes),
  };
}

const PEM = /-----BEGIN CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE REQUEST-----/;

/** Object identifiers in their encoded form. */
const IDENTIFIER = {
  commonName: '550403',
  organization: '55040a',
  extensionRequest: '2a864886f70d01090e',
  subjectAltName: '551d11',
} as const;

const ALTERNATIVES: ReadonlyMap<number, 'email' | 'dns' | 'uri' | 'ip'> = new Map([
  [0x81, 'email'],
  [0x82, 'dns'],
  [0x86, 'uri'],
  [0x87, 'ip'],
]);

function alternativesOf(attributes: Der | undefined): RequestedNames['alternatives'] {
  const extensions = childrenOf(attributes)
    .map(childrenOf)
    .filter(([name]) => name?.content.toString('hex') === IDENTIFIER.extensionRequest)
    .flatMap(([, values]) => childrenOf(values).flatMap(childrenOf))
    .map(childrenOf);
  const names = extensions
    .filter(([name]) => name?.content.toString('hex') === IDENTIFIER.subjectAltName)
    .flatMap((extension) => elements(extension.at(-1)?.content ?? Buffer.alloc(0)).flatMap(childrenOf));
  return new Set(names.flatMap(({ tag }) => ALTERNATIVES.get(tag) ?? []));
}

interface Der {
  readonly tag: number;
  readonly content: Buffer;
}

const CONSTRUCTED = 0x20;
const LONG_LENGTH = 0x80;
const LENGTH_BYTES_MAX = 4;

function childrenOf(value: Der | undefined): readonly Der[] {
  return value === undefined || (value.tag & CONSTRUCTED) === 0 ? [] : elements(value.content);
}

/** The values that stand one after the other in the bytes, up to the first that is malformed. */
function elements(bytes: Buffer): readonly Der[] {
  const found: Der[] = [];
  for (let at = 0; at + 1 < bytes.length;) {
    const tag = bytes[at] ?? 0;
    const first = bytes[at + 1] ?? 0;
    const lengthBytes = first < LONG_LENGTH ? 0 : first - LONG_LENGTH;
    const start = at + 2 + lengthBytes;
    if (lengthBytes > LENGTH_BYTES_MAX || start > bytes.length) break;
    const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes);
    if (first === LONG_LENGTH || start + length > bytes.length) break;
    found.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}
