import { DecodeError } from '../schema/decode-error';
import { decodeUtf8 } from '../schema/utf8';
import { WIRE } from './wire-writer';

const VARINT_BYTES_MAX = 10;
const CONTINUED = 0x80;
/** Up to 7 bytes hold 49 bits, which a double represents exactly. */
const EXACT_VARINT_BYTES = 7;
/** Deepest nesting of skipped groups, a deprecated wire type that nothing here writes. */
const GROUP_DEPTH_MAX = 32;

/**
 * Reads Protobuf from untrusted bytes. It never allocates by a declared length, and checks every read against
 * `end`, which the caller sets when it enters a nested message. Throws DecodeError.
 */
export class WireReader {
  readonly bytes: Buffer;
  at = 0;
  end: number;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.end = bytes.length;
  }

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  /** Reads a tag: the field's number × 8 + the wire type. */
  tag(): number {
    const tag = this.uint32();
    if (tag < 8) throw new DecodeError('a field has the number 0');
    return tag;
  }

  /** Reads the lower 32 bits of a varint. */
  uint32(): number {
    const first = this.#byte();
    if (first < CONTINUED) return first;
    let value = first & 0x7f;
    for (let index = 1; index < VARINT_BYTES_MAX; index += 1) {
      const byte = this.#byte();
      if (index < 5) value |= (byte & 0x7f) << (7 * index);
      if (byte < CONTINUED) return value >>> 0;
    }
    throw tooLongVarint();
  }

  int32(): number {
    return this.uint32() | 0;
  }

  bool(): boolean {
    return this.int64() !== 0;
  }

  /** Reads an int64 as a number where that is exact, else as a bigint. */
  int64(): number | bigint {
    const start = this.at;
    let value = 0;
    let scale = 1;
    for (let index = 0; index < EXACT_VARINT_BYTES; index += 1) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < CONTINUED) return value;
      scale *= CONTINUED;
    }
    this.at = start;
    return this.#longInt64();
  }

  double(): number {
    const start = this.skipBytes(8);
    return this.bytes.readDoubleLE(start);
  }

  /** Reads the length of a length-delimited value, which is within the message. */
  size(): number {
    const size = this.uint32();
    if (size > this.end - this.at) {
      throw new DecodeError(`a length of ${String(size)} bytes where ${String(this.end - this.at)} are left`);
    }
    return size;
  }

  /** Reads a string. Invalid UTF-8 becomes U+FFFD, as in JSON. */
  string(): string {
    const size = this.size();
    const start = this.skipBytes(size);
    const text = this.bytes.toString('utf8', start, start + size);
    return text.includes('\ufffd') ? decodeUtf8(this.bytes.subarray(start, start + size)) : text;
  }

  base64(): string {
    const size = this.size();
    const start = this.skipBytes(size);
    return this.bytes.toString('base64', start, start + size);
  }

  /** Reads bytes as a view, without a copy. */
  slice(): Buffer {
    const size = this.size();
    const start = this.skipBytes(size);
    return this.bytes.subarray(start, start + size);
  }

  /** Skips `count` bytes and returns where they begin. */
  skipBytes(count: number): number {
    if (count > this.end - this.at) throw truncated();
    const start = this.at;
    this.at += count;
    return start;
  }

  /** Skips the value of an unknown field. */
  skip(tag: number): void {
    let depth = 0;
    let wire = tag & 7;
    for (;;) {
      if (wire === WIRE.groupStart) depth += 1;
      else if (wire === WIRE.groupEnd) depth -= 1;
      else this.#skipValue(wire);
      if (depth < 0 || depth > GROUP_DEPTH_MAX) throw new DecodeError('malformed groups');
      if (depth === 0) return;
      wire = this.tag() & 7;
    }
  }

  #skipValue(wire: number): void {
    if (wire === WIRE.varint) this.uint32();
    else if (wire === WIRE.bytes) this.skipBytes(this.size());
    else if (wire === WIRE.fixed64) this.skipBytes(8);
    else if (wire === WIRE.fixed32) this.skipBytes(4);
    else throw new DecodeError(`wire type ${String(wire)} does not exist`);
  }

  #longInt64(): number | bigint {
    let value = 0n;
    for (let index = 0n; index < VARINT_BYTES_MAX; index += 1n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << (7n * index);
      if (byte < CONTINUED) {
        const signed = BigInt.asIntN(64, value);
        const small = Number(signed);
        return Number.isSafeInteger(small) ? small : signed;
      }
    }
    throw tooLongVarint();
  }

  #byte(): number {
    if (this.at >= this.end) throw truncated();
    const byte = this.bytes[this.at] ?? 0;
    this.at += 1;
    return byte;
  }
}

function truncated(): DecodeError {
  return new DecodeError('the message ends in the middle of a value');
}

function tooLongVarint(): DecodeError {
  return new DecodeError('a varint is longer than 10 bytes');
}
