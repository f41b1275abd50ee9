import { FieldCounter } from './field-counter';
import type { FrameHead } from './frame-reader';
import { END_HEADERS, FRAME } from './frame-reader';
import { HTTP2_HEADS_AHEAD_MAX } from './limits';

/**
 * Counts the fields of the request headers, one header block at a time, in the bytes of the connection. nghttp2 silently drops invalid fields, such
 * as a value with a trailing space. A request that lost `Impersonate-User` would run with the rights of its sender.
 */
export class HeadCounts {
  readonly #waiting = new Map<number, number | undefined>();
  /**
   * The newest stream whose headers were seen. Later headers of the same or an older stream (trailers) start no
   * request.
   */
  #newest = 0;
  #counter: FieldCounter | undefined = undefined;
  #stream = 0;
  #isLast = false;

  /** Too many header blocks are waiting for their request. */
  get isFull(): boolean {
    return this.#waiting.size > HTTP2_HEADS_AHEAD_MAX;
  }

  begin({ type, flags, stream }: FrameHead): void {
    this.#isLast = (flags & END_HEADERS) !== 0;
    if (type === FRAME.continuation) return;
    this.#counter = type === FRAME.headers ? new FieldCounter() : undefined;
    this.#stream = stream;
  }

  content(bytes: Buffer, from: number, to: number): void {
    this.#counter?.add(bytes.subarray(from, to));
  }

  end(): void {
    const counter = this.#counter;
    if (counter === undefined || !this.#isLast) return;
    this.#counter = undefined;
    if (this.#stream <= this.#newest) return;
    this.#newest = this.#stream;
    this.#waiting.set(this.#stream, counter.fields);
  }

  /** Returns whether a request has all the fields that were sent for it. Called once per request, in order. */
  isWhole(stream: number, fields: number): boolean {
    const sent = this.#waiting.get(stream);
    // Streams before it produce no request any more.
    for (const each of this.#waiting.keys()) {
      if (each > stream) break;
      this.#waiting.delete(each);
    }
    return sent === fields;
  }
}
