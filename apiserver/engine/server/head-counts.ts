import { FieldCounter } from './field-counter';
import type { FrameHead } from './frame-reader';
import { END_HEADERS, FRAME } from './frame-reader';
import { HTTP2_HEADS_AHEAD_MAX } from './limits';

/**
 * How many fields clients have sent in each head, counted in the bytes of their connection. nghttp2 leaves out without a word what cannot be a
 * field, such as a value with a space at its end: a request that is to be carried out as somebody else would be carried out as its sender.
 */
export class HeadCounts {
  readonly #waiting = new Map<number, number | undefined>();
  /** The newest stream of which the head was seen: what follows on it, or comes for an older one, begins no request. */
  #newest = 0;
  #counter: FieldCounter | undefined = undefined;
  #stream = 0;
  #isLast = false;

  /** Too many heads came of which no request has. */
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
}
