import { FieldCounter } from './field-counter';
import { HTTP2_HEADS_AHEAD_MAX } from './limits';

const PREFACE_BYTES = 24;
const FRAME_HEAD_BYTES = 9;
const TYPE_AT = 3;
const FLAGS_AT = 4;
const STREAM_AT = 5;
const HEADERS = 1;
const CONTINUATION = 9;
const END_HEADERS = 0x4;
const PADDED = 0x8;
const PRIORITY = 0x20;
const PRIORITY_BYTES = 5;
const STREAM_BITS = 0x7f_ff_ff_ff;

/**
 * How many fields clients have sent in each head, counted in the bytes of their connection. nghttp2 leaves out without a word what cannot be a
 * field, such as a value with a space at its end: a request that is to be carried out as somebody else would be carried out as its sender.
 */
export class HeadCounts {
  readonly #waiting = new Map<number, number | undefined>();
  /** The newest stream of which the head was seen: what follows on it, or comes for an older one, begins no request. */
  #newest = 0;
  #preface = PREFACE_BYTES;
  /** The head of a frame, as far as it has come. */
  readonly #frame = Buffer.alloc(FRAME_HEAD_BYTES);
  #frameBytes = 0;
  /** Bytes of the frame that are still to come, and of these, behind them, what fills it up. */
  #left = 0;
  #padding = 0;
  /** Bytes before the fields, of which the first may say how much fills the frame up. */
  #before = 0;
  #isPadded = false;
  #counter: FieldCounter | undefined = undefined;
  #stream = 0;
  #isLast = false;

  /** Too many heads came of which no request has. */
  get isFull(): boolean {
    return this.#waiting.size > HTTP2_HEADS_AHEAD_MAX;
  }

  /** To be called with all that comes over the connection, before anybody else reads it. */
  add(bytes: Buffer): void {
    let at = Math.min(this.#preface, bytes.length);
    this.#preface -= at;
    while (at < bytes.length) {
      if (this.#frameBytes < FRAME_HEAD_BYTES) {
        const taken = bytes.copy(this.#frame, this.#frameBytes, at, at + FRAME_HEAD_BYTES - this.#frameBytes);
        this.#frameBytes += taken;
        at += taken;
        if (this.#frameBytes === FRAME_HEAD_BYTES) this.#beginFrame();
      } else {
        const end = Math.min(at + this.#left, bytes.length);
        this.#left -= end - at;
        if (this.#counter !== undefined) this.#addPayload(bytes.subarray(at, end));
        at = end;
      }
      if (this.#frameBytes === FRAME_HEAD_BYTES && this.#left === 0) this.#endFrame();
    }
  }

  /** Whether a request has all the fields that were sent for it. To be asked once for each, in their order. */
  isWhole(stream: number, fields: number): boolean {
    const sent = this.#waiting.get(stream);
    // Of those before it there will be no request.
    for (const each of this.#waiting.keys()) {
      if (each > stream) break;
      this.#waiting.delete(each);
    }
    return sent === fields;
  }

  #beginFrame(): void {
    const frame = this.#frame;
    const type = frame[TYPE_AT];
    const flags = frame[FLAGS_AT] ?? 0;
    this.#left = frame.readUIntBE(0, TYPE_AT);
    this.#isLast = (flags & END_HEADERS) !== 0;
    if (type === CONTINUATION) return;
    this.#counter = undefined;
    if (type !== HEADERS) return;
    this.#counter = new FieldCounter();
    this.#stream = frame.readUInt32BE(STREAM_AT) & STREAM_BITS;
    this.#isPadded = (flags & PADDED) !== 0;
    this.#padding = 0;
    this.#before = (this.#isPadded ? 1 : 0) + ((flags & PRIORITY) === 0 ? 0 : PRIORITY_BYTES);
  }

  #addPayload(part: Buffer): void {
    let fields = part;
    if (this.#before > 0 && part.length > 0) {
      if (this.#isPadded) this.#padding = part[0] ?? 0;
      this.#isPadded = false;
      const skipped = Math.min(this.#before, part.length);
      this.#before -= skipped;
      fields = part.subarray(skipped);
    }
    const filling = Math.max(0, this.#padding - this.#left);
    this.#counter?.add(fields.subarray(0, Math.max(0, fields.length - filling)));
  }

  #endFrame(): void {
    this.#frameBytes = 0;
    this.#padding = 0;
    const counter = this.#counter;
    if (counter === undefined || !this.#isLast) return;
    this.#counter = undefined;
    if (this.#stream <= this.#newest) return;
    this.#newest = this.#stream;
    this.#waiting.set(this.#stream, counter.fields);
  }
}
