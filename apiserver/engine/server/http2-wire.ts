import type { FrameHead, FrameListener } from './frame-reader';
import { FRAME, FRAME_TYPE_MAX, FrameReader } from './frame-reader';
import type { HeadTurns } from './head-turns';
import { HeadCounts } from './head-counts';
import { UnreadBodies } from './unread-bodies';

/** Inspects the frames of one HTTP/2 connection before nghttp2 reads them, for what nghttp2 and Node do not report. */
export class Http2Wire implements FrameListener {
  readonly heads = new HeadCounts();
  readonly unread = new UnreadBodies();
  /** Called for each frame that belongs to no request and that Node does not report: PRIORITY, GOAWAY and extension frames. */
  onIdleFrame: () => void = () => undefined;
  onWindowUpdate: () => void = () => undefined;
  /** Called when a limit is exceeded. */
  onFault: (what: string) => void = () => undefined;
  readonly #reader = new FrameReader(this);
  readonly #turns: Pick<HeadTurns, 'take'>;
  /** No header block was read yet of the current chunk. */
  #isFirst = true;
  /** The current header block was deferred to this turn. */
  #hasLeft = false;

  constructor(turns: Pick<HeadTurns, 'take'>) {
    this.#turns = turns;
  }

  /**
   * Inspects a chunk from byte `from` on. Returns the position up to which nghttp2 may read in this turn of the event
   * loop; undefined if a limit is exceeded.
   */
  add(bytes: Buffer, from = 0): number | undefined {
    // Slices keep the whole chunk in memory.
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
    if (type === FRAME.windowUpdate) this.onWindowUpdate();
    else if (type === FRAME.priority || type === FRAME.goaway || type > FRAME_TYPE_MAX) this.onIdleFrame();
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
