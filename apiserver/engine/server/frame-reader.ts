/** Frame types (RFC 9113, 6). */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** The highest type of HTTP/2 itself; higher ones belong to extensions. */
export const FRAME_TYPE_MAX: number = FRAME.continuation;

export const END_HEADERS = 0x4;

/** The frame header. */
export interface FrameHead {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
}

/** Receives the frames of a connection in order. */
export interface FrameListener {
  /** A frame with a payload of so many bytes begins. Returns false to pause before it: the payload is read later. */
  begin(frame: FrameHead, bytes: number): boolean;
  /** A part of the payload without padding and priority: `bytes` from `from` to `to`, possibly empty. */
  content(bytes: Buffer, from: number, to: number): void;
  end(): void;
}

const PREFACE_BYTES = 24;
const FRAME_HEAD_BYTES = 9;
const TYPE_AT = 3;
const FLAGS_AT = 4;
const STREAM_AT = 5;
const PADDED = 0x8;
const PRIORITY = 0x20;
const PRIORITY_BYTES = 5;
const STREAM_BITS = 0x7f_ff_ff_ff;

/** Splits the bytes that a client sends over HTTP/2 into frames, wherever the chunks are cut. */
export class FrameReader {
  readonly #listener: FrameListener;
  #preface = PREFACE_BYTES;
  /** The received part of the current frame header. */
  readonly #frame = Buffer.alloc(FRAME_HEAD_BYTES);
  #frameBytes = 0;
  /** Remaining bytes of the frame, and the padding among them. */
  #left = 0;
  #padding = 0;
  /** Bytes before the payload: the padding length and the priority. */
  #before = 0;
  #isPadded = false;

  constructor(listener: FrameListener) {
    this.#listener = listener;
  }

  /**
   * Reads a chunk of the connection, from byte `from` on. Returns the position up to which it has read: the end, or
   * the frame before which the listener pauses.
   */
  add(bytes: Buffer, from = 0): number {
    let at = Math.min(from + this.#preface, bytes.length);
    this.#preface -= at - from;
    let goesOn = true;
    while (at < bytes.length && goesOn) {
      if (this.#frameBytes < FRAME_HEAD_BYTES) {
        const taken = bytes.copy(this.#frame, this.#frameBytes, at, at + FRAME_HEAD_BYTES - this.#frameBytes);
        this.#frameBytes += taken;
        at += taken;
        if (this.#frameBytes === FRAME_HEAD_BYTES) goesOn = this.#beginFrame();
      } else {
        const end = Math.min(at + this.#left, bytes.length);
        this.#left -= end - at;
        this.#part(bytes, at, end);
        at = end;
      }
      if (this.#frameBytes === FRAME_HEAD_BYTES && this.#left === 0) {
        this.#frameBytes = 0;
        this.#listener.end();
      }
    }
    return at;
  }

  #beginFrame(): boolean {
    const frame = this.#frame;
    const type = frame[TYPE_AT] ?? 0;
    const flags = frame[FLAGS_AT] ?? 0;
    this.#left = frame.readUIntBE(0, TYPE_AT);
    this.#isPadded = (flags & PADDED) !== 0 && (type === FRAME.data || type === FRAME.headers);
    this.#padding = 0;
    const hasWeight = type === FRAME.headers && (flags & PRIORITY) !== 0;
    this.#before = (this.#isPadded ? 1 : 0) + (hasWeight ? PRIORITY_BYTES : 0);
    const stream = frame.readUInt32BE(STREAM_AT) & STREAM_BITS;
    return this.#listener.begin({ type, flags, stream }, this.#left);
  }

  #part(bytes: Buffer, from: number, to: number): void {
    let start = from;
    if (this.#before > 0 && to > from) {
      if (this.#isPadded) this.#padding = bytes[from] ?? 0;
      this.#isPadded = false;
      const skipped = Math.min(this.#before, to - from);
      this.#before -= skipped;
      start += skipped;
    }
    const filling = Math.max(0, this.#padding - this.#left);
    this.#listener.content(bytes, start, Math.max(start, to - filling));
  }
}
