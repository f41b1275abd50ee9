import { LENT_BYTES_MIN } from '../request/exchange';
import { Slices } from '../../../shared/concurrency/slices';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;
const NEWLINE = 0x0a;
const INDENT_CHARS = 2;

/** Indents compact JSON with two spaces per level, as Go does. Numbers and strings are not changed. */
export function prettyJson(bytes: Buffer): Buffer {
  return new Printer().print(bytes);
}

/** The same for a body that may come in batches. */
export function prettyBody(body: Buffer | AsyncIterable<Buffer>): Buffer | AsyncIterable<Buffer> {
  if (!Buffer.isBuffer(body)) return prettyBatches(body);
  return body.length <= PIECE_BYTES ? prettyJson(body) : prettyBatches([body]);
}

async function* prettyBatches(batches: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  const printer = new Printer();
  const slices = new Slices();
  for await (const batch of batches) {
    for (let at = 0; at < batch.length; at += PIECE_BYTES) {
      yield printer.print(batch.subarray(at, at + PIECE_BYTES));
      if (slices.due()) await slices.pause();
    }
  }
}

/** A whole batch would block the event loop too long. The output of such a piece is longer, so it is lent. */
const PIECE_BYTES = LENT_BYTES_MIN;

/** Indents byte by byte, so that it can stop anywhere and continue with the next batch. */
class Printer {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** An object or list was opened and has no content yet. */
  #isOpen = false;
  #out = Buffer.alloc(0);
  /** Reused buffer for long pieces. */
  #lent = Buffer.alloc(0);
  #length = 0;

  print(bytes: Buffer): Buffer {
    const isLent = bytes.length >= LENT_BYTES_MIN;
    this.#out = isLent && this.#lent.length > 0 ? this.#lent : Buffer.allocUnsafe(bytes.length * 2);
    this.#length = 0;
    for (const byte of bytes) {
      if (this.#isInString) this.#inString(byte);
      else this.#outside(byte);
    }
    if (isLent) this.#lent = this.#out;
    return this.#out.subarray(0, this.#length);
  }

  #inString(byte: number): void {
    this.#push(byte);
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#isInString = false;
  }

  #outside(byte: number): void {
    if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      this.#depth -= 1;
      if (!this.#isOpen) this.#line();
      this.#isOpen = false;
      this.#push(byte);
      return;
    }
    if (this.#isOpen && byte !== NEWLINE) {
      this.#isOpen = false;
      this.#line();
    }
    this.#push(byte);
    if (byte === COMMA) this.#line();
    else if (byte === COLON) this.#push(SPACE);
    else if (byte === QUOTE) this.#isInString = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      this.#depth += 1;
      this.#isOpen = true;
    }
  }

  #line(): void {
    this.#push(NEWLINE);
    for (let index = this.#depth * INDENT_CHARS; index > 0; index -= 1) this.#push(SPACE);
  }

  #push(byte: number): void {
    if (this.#length === this.#out.length) {
      const larger = Buffer.allocUnsafe(this.#out.length * 2 + 64);
      this.#out.copy(larger, 0, 0, this.#length);
      this.#out = larger;
    }
    this.#out[this.#length] = byte;
    this.#length += 1;
  }
}
