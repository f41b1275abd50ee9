/*
 * A gRPC message on the wire: one byte that says whether it is compressed, four bytes of length (big-endian), then the message. HTTP/2
 * cuts the bytes as it likes: a message may come in many DATA frames, and many messages in one.
 */

/** The frame head before each message. */
const FRAME_HEAD_BYTES = 5;

/** Far above what etcd sends; a longer one means that the two sides no longer agree where messages begin. */
const MESSAGE_BYTES_MAX = 1024 * 1024 * 1024;

/** The answer is not what gRPC allows. */
export class FrameError extends Error {}

/** Fills in the head of a message whose first five bytes were left free for it. */
export function writeFrameHead(frame: Buffer): Buffer {
  frame[0] = 0;
  frame.writeUInt32BE(frame.length - FRAME_HEAD_BYTES, 1);
  return frame;
}

/**
 * Joins the bytes of one stream to messages. Each message is copied out of what it came in, so that keeping one does not keep that; small
 * ones share the 8 KiB of Buffer's pool.
 */
export class MessageReader {
  readonly #head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
  #headBytes = 0;
  #message: Buffer | undefined;
  #messageBytes = 0;
  #complete: Buffer[] = [];
  #bytes = 0;

  /** Bytes of complete messages that were not taken yet. */
  get completeBytes(): number {
    return this.#bytes;
  }

  /** Whether a message is incomplete. */
  get isMidMessage(): boolean {
    return this.#headBytes > 0;
  }

  /** All complete messages, in order; they are forgotten here. */
  takeAll(): readonly Buffer[] {
    const taken = this.#complete;
    this.#complete = [];
    this.#bytes = 0;
    return taken;
  }

  /** Throws a {@link FrameError} for a compressed message, which was not requested, and for an impossible length. */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#message === undefined) {
        const taken = chunk.copy(this.#head, this.#headBytes, at, at + FRAME_HEAD_BYTES - this.#headBytes);
        at += taken;
        this.#headBytes += taken;
        if (this.#headBytes < FRAME_HEAD_BYTES) return;
        this.#message = Buffer.allocUnsafe(this.#messageLength());
        this.#messageBytes = 0;
      }
      const copied = chunk.copy(this.#message, this.#messageBytes, at);
      at += copied;
      this.#messageBytes += copied;
      if (this.#messageBytes < this.#message.length) return;
      this.#complete.push(this.#message);
      this.#bytes += FRAME_HEAD_BYTES + this.#message.length;
      this.#message = undefined;
      this.#headBytes = 0;
    }
  }

  #messageLength(): number {
    if (this.#head[0] !== 0) throw new FrameError('The answer is compressed, which was not asked for.');
    const length = this.#head.readUInt32BE(1);
    if (length <= MESSAGE_BYTES_MAX) return length;
    throw new FrameError(`The answer claims a length of ${String(length)} bytes.`);
  }
}
