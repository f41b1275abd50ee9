/** The parts of one value in ASN.1 DER (ITU-T X.690). */
export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  /** With its tag and length. */
  readonly whole: Buffer;
}

export const DER_TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Of `[0]`, `[1]` …, in the form that holds whole values. */
export function derContextTag(number: number): number {
  return CONTEXT_CONSTRUCTED | number;
}

const CONTEXT_CONSTRUCTED = 0xa0;

/** The bytes are no DER, or not the structure that is expected. */
export class DerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DerError';
  }
}

/** The values that stand one behind the other. Throws a DerError for bytes that are no DER. */
export function derValues(bytes: Buffer): readonly DerValue[] {
  const found: DerValue[] = [];
  for (let at = 0; at < bytes.length;) {
    const { headerBytes, contentBytes } = lengths(bytes, at);
    const end = at + headerBytes + contentBytes;
    if (end > bytes.length) throw new DerError('cut off');
    found.push({
      tag: bytes.readUInt8(at),
      content: bytes.subarray(at + headerBytes, end),
      whole: bytes.subarray(at, end),
    });
    at = end;
  }
  return found;
}

/** The values inside a value that must have the tag. Throws a DerError if it has another, or is not there. */
export function derChildren(value: DerValue | undefined, tag: number): readonly DerValue[] {
  if (value?.tag !== tag) throw new DerError('not the structure that is expected');
  return derValues(value.content);
}

/** The text of a string value, whichever of the kinds of strings it is. Throws a DerError for half a character. */
export function derText({ tag, content }: DerValue): string {
  if (tag === DER_TAG.utf8String) return content.toString('utf8');
  if (tag === DER_TAG.bmpString) {
    if (content.length % BMP_CHARACTER_BYTES !== 0) throw new DerError('half a character');
    return Buffer.from(content).swap16().toString('utf16le');
  }
  // The others are ASCII, or what was meant by those who wrote other bytes there.
  return content.toString('latin1');
}

const BMP_CHARACTER_BYTES = 2;
const LONG_FORM = 0x80;
const LENGTH_BYTES_MAX = 4;

function lengths(bytes: Buffer, at: number): { readonly headerBytes: number; readonly contentBytes: number } {
  const first = bytes[at + 1];
  if (first === undefined) throw new DerError('cut off');
  if (first < LONG_FORM) return { headerBytes: 2, contentBytes: first };
  const count = first - LONG_FORM;
  if (count === 0 || count > LENGTH_BYTES_MAX) throw new DerError('bad length');
  if (at + 2 + count > bytes.length) throw new DerError('cut off');
  const contentBytes = bytes.readUIntBE(at + 2, count);
  // DER has one way to write a length.
  if (contentBytes < LONG_FORM || contentBytes < 2 ** (8 * (count - 1))) throw new DerError('bad length');
  return { headerBytes: 2 + count, contentBytes };
}
