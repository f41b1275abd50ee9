/**
 * The few forms of ASN.1 DER (ITU-T X.690) that a certificate is made of. Each function returns one complete element: tag, length,
 * content. What reads them is `der-reader.ts`.
 */
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  nothing: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;
const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;
const LONG_LENGTH = 0x80;

function element(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), length(body.length), body]);
}

function length(bytes: number): Buffer {
  if (bytes < LONG_LENGTH) return Buffer.from([bytes]);
  const digits = minimalBytes(bytes);
  return Buffer.from([LONG_LENGTH | digits.length, ...digits]);
}

function minimalBytes(value: number): number[] {
  const digits: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  return digits.length === 0 ? [0] : digits;
}

export function sequence(...items: readonly Buffer[]): Buffer {
  return element(TAG.sequence, ...items);
}

export function set(...items: readonly Buffer[]): Buffer {
  return element(TAG.set, ...items);
}

/** A non-negative integer from its big-endian bytes. */
export function integer(bytes: Buffer | number): Buffer {
  const raw = typeof bytes === 'number' ? Buffer.from(minimalBytes(bytes)) : bytes;
  const start = raw.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? Buffer.from([0]) : raw.subarray(start);
  const isNegative = (digits[0] ?? 0) >= LONG_LENGTH;
  return element(TAG.integer, isNegative ? Buffer.concat([Buffer.from([0]), digits]) : digits);
}

export function boolean(value: boolean): Buffer {
  return element(TAG.boolean, Buffer.from([value ? 0xff : 0]));
}

/** Bits that fill whole bytes, such as a signature. */
export function bitString(bytes: Buffer): Buffer {
  return element(TAG.bitString, Buffer.from([0]), bytes);
}

/** A list of named bits (bit 0 is the leftmost), at least one, without trailing zero bits as DER asks for. */
export function namedBits(positions: readonly number[]): Buffer {
  const last = Math.max(...positions);
  const bytes = Buffer.alloc(Math.floor(last / 8) + 1);
  for (const position of positions) {
    const at = Math.floor(position / 8);
    bytes[at] = (bytes[at] ?? 0) | (0x80 >> (position % 8));
  }
  return element(TAG.bitString, Buffer.from([7 - (last % 8)]), bytes);
}

export function octetString(bytes: Buffer): Buffer {
  return element(TAG.octetString, bytes);
}

/** NULL. */
export function nothing(): Buffer {
  return element(TAG.nothing);
}

export function utf8String(text: string): Buffer {
  return element(TAG.utf8String, Buffer.from(text, 'utf8'));
}

/** From dotted decimal: `2.5.29.17`. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(TAG.objectIdentifier, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value % 128];
  for (let high = Math.floor(value / 128); high > 0; high = Math.floor(high / 128)) {
    digits.unshift((high % 128) | 0x80);
  }
  return digits;
}

/** A point in time to the second: UTCTime until 2049, GeneralizedTime after, as RFC 5280 asks for. */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return ms < Date.UTC(2050, 0)
    ? element(TAG.utcTime, Buffer.from(digits.slice(2), 'latin1'))
    : element(TAG.generalizedTime, Buffer.from(digits, 'latin1'));
}

/** `[number] EXPLICIT`: the whole element inside a wrapper. */
export function explicit(number: number, inner: Buffer): Buffer {
  return element(CONTEXT | CONSTRUCTED | number, inner);
}

/** `[number] IMPLICIT` of a primitive type: only its content. */
export function implicit(number: number, content: Buffer): Buffer {
  return element(CONTEXT | number, content);
}
