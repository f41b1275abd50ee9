import type { FrameHead, FrameListener } from './frame-reader';
import { FRAME, FRAME_TYPE_MAX, FrameReader } from './frame-reader';
import type { HeadTurns } from './head-turns';
import { HeadCounts } from './head-counts';
import { UnreadBodies } from './unread-bodies';

/** What is seen of one connection over HTTP/2 before nghttp2 reads it: what nghttp2 and Node do not tell. */
export class Http2Wire implements FrameListener {
  readonly heads = new HeadCounts();
  readonly unread = new UnreadBodies();
  /** Called for each frame that is no part of a request, and of which Node does not tell: weights, and frames of extensions. */
  onIdleFrame: () => void = () => undefined;
  /** Called when there is too much of something. */
  onFault: (what: string) => void = () => undefined;
  readonly #reader = new FrameReader(this);
  readonly #turns: Pick<HeadTurns, 'take'>;
  /** No head was read of what was given last. */
  #isFirst = true;
  /** The head that has begun was left for this turn. */
  #hasLeft = false;

  constructor(turns: Pick<HeadTurns, 'take'>) {
    this.#turns = turns;
  }

  /**
   * To be called with all that comes, from the byte `from` on. Answers up to which byte nghttp2 may read it in this turn of the event loop;
   * undefined: there is too much of it.
   */
  add(bytes: Buffer, from = 0): number | undefined {
    // All parts of it keep the whole of it alive.
    if (from === 0) this.unread.read(bytes.length);
    this.#isFirst = !this.#hasLeft;
    if (this.#hasLeft) this.#turns.take();
    this.#hasLeft = false;
    const end = this.#reader.add(bytes, from);
    const fault = this.#fault();
    if (fault !== undefined) this.onFault(fault);
    return fault === undefined ? end : undefined;
  }

  begin(frame: FrameHead, bytes: number): boolean {
    const { type } = frame;
    this.heads.begin(frame);
    this.unread.begin(frame, bytes);
    if (type === FRAME.priority || type > FRAME_TYPE_MAX) this.onIdleFrame();
    if (type !== FRAME.headers) return true;
    this.#hasLeft = !this.#turns.take() && !this.#isFirst;
    this.#isFirst = false;
    return !this.#hasLeft;
  }

  content(bytes: Buffer, from: number, to: number): void {
    this.heads.content(bytes, from, to);
    this.unread.content(to - from);
  }

  end(): void {
    this.heads.end();
  }

  #fault(): string | undefined {
    if (this.heads.isFull) return 'heads without a request';
    if (this.unread.isMisused) return 'bytes for requests that are over';
    return this.unread.isFull ? 'bytes of bodies that wait' : undefined;
  }
}
