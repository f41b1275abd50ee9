/** Wire types. */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const;

const START_BYTES = 16 * 1024;
/** Strings up to this length are copied by a loop, which is faster than a runtime call. */
const SHORT_STRING_CHARS = 32;
const UTF8_BYTES_PER_CHAR_MAX = 3;
const ASCII_END = 0x80;
const INT64_BYTES_MAX = 10;
const TWO_32 = 2 ** 32;

/**
 * Writes a Protobuf message from its end to its beginning, so that the length of a nested message is known
 * when its header is written. Callers write later bytes first.
 */
export class WireWriter {
  #buffer = Buffer.allocUnsafeSlow(START_BYTES);
  /** Start of the written bytes, which end with the buffer. */
  #at = START_BYTES;

  /** Bytes written so far. */
  get length(): number {
    return this.#buffer.length - this.#at;
  }

  /** Returns a copy of the written bytes and empties the writer. */
  take(): Buffer {
    const bytes = Buffer.from(this.#buffer.subarray(this.#at));
    this.#at = this.#buffer.length;
    return bytes;
  }

  /** Discards the written bytes, after an error in the middle of a message. */
  reset(): void {
    this.#at = this.#buffer.length;
  }

  tag(number: number, wire: number): void {
    this.uint32(number * 8 + wire);
  }

  /** Writes the length of everything since `mark` (an earlier `length`) and the tag of its field. */
  delimit(number: number, mark: number): void {
    this.uint32(this.length - mark);
    this.tag(number, WIRE.bytes);
  }

  uint32(value: number): void {
    if (value < ASCII_END) {
      this.#room(1);
      this.#at -= 1;
      this.#buffer[this.#at] = value;
      return;
    }
    let bytes = 1;
    for (let rest = value >>> 7; rest !== 0; rest >>>= 7) bytes += 1;
    this.#room(bytes);
    this.#at -= bytes;
    let rest = value;
    for (let index = 0; index < bytes - 1; index += 1) {
      this.#buffer[this.#at + index] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#buffer[this.#at + bytes - 1] = rest;
  }

  /** Writes a signed integer of up to 64 bits. Negative ones take ten bytes, even 32-bit ones. */
  int64(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0 && value < TWO_32) {
      this.uint32(value);
      return;
    }
    this.#room(INT64_BYTES_MAX);
    let rest = BigInt.asUintN(64, BigInt(value));
    const bytes: number[] = [];
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    this.#at -= bytes.length;
    this.#buffer.set(bytes, this.#at);
  }

  double(value: number): void {
    this.#room(8);
    this.#at -= 8;
    this.#buffer.writeDoubleLE(value, this.#at);
  }

  /** Writes UTF-8 without a length. */
  string(text: string): void {
    if (text.length <= SHORT_STRING_CHARS && this.#ascii(text)) return;
    const bytes = Buffer.byteLength(text);
    this.#room(bytes);
    this.#at -= bytes;
    this.#buffer.write(text, this.#at, bytes, bytes === text.length ? 'latin1' : 'utf8');
  }

  /** Writes bytes without a length. */
  bytes(bytes: Buffer): void {
    this.#room(bytes.length);
    this.#at -= bytes.length;
    this.#buffer.set(bytes, this.#at);
  }

  #ascii(text: string): boolean {
    this.#room(text.length * UTF8_BYTES_PER_CHAR_MAX);
    const start = this.#at - text.length;
    for (let index = 0; index < text.length; index += 1) {
      const char = text.charCodeAt(index);
      if (char >= ASCII_END) return false;
      this.#buffer[start + index] = char;
    }
    this.#at = start;
    return true;
  }

  #room(bytes: number): void {
    if (this.#at >= bytes) return;
    const used = this.length;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, used + bytes));
    this.#buffer.copy(larger, larger.length - used, this.#at);
    this.#buffer = larger;
    this.#at = larger.length - used;
  }
}
