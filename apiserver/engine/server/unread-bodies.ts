import { StatusError } from '../../../shared/errors/status-error';
import type { UserInfo } from '../request/exchange';
import type { FrameHead } from './frame-reader';
import { FRAME } from './frame-reader';
import type { HeldBytes } from './held-bytes';
import * as limits from './limits';

/** Memory overhead of a chunk. */
const PIECE_BYTES = 256;

/**
 * Counts the unread bodies of one HTTP/2 connection. Node buffers them per stream, each up to its flow-control
 * window, and returns the window of the session at once. Each chunk is a slice of one read of the connection and
 * keeps the whole read in memory: a read counts until its last chunk is consumed.
 */
export class UnreadBodies {
  /** Bodies of requests in flight. */
  readonly #bodies = new Map<number, UnreadBody>();
  /** Bodies of requests that Node has not reported yet. */
  readonly #ahead = new Map<number, UnreadBody>();
  /** The newest stream that Node has reported. Data for an older stream without a body here is discarded. */
  #newest = 0;
  #stream = 0;
  #isBody = false;
  #read: Read;
  #bytes = 0;
  /** Discarded bytes, less what each request may still send after it has ended. */
  #thrownAway = 0;
  readonly #grew = (bytes: number): void => {
    this.#bytes += bytes;
  };

  constructor() {
    this.#read = new Read(0, this.#grew);
  }

  /** Their memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Refusing requests has not kept the memory within the limit. */
  get isFull(): boolean {
    return this.#bytes > limits.UNREAD_BODIES_BYTES_CUT;
  }

  /** The client sent more for ended requests than its flow-control windows allow. */
  get isMisused(): boolean {
    return this.#thrownAway > limits.THROWN_AWAY_BYTES_CUT;
  }

  /** Called before the frames of each read of the connection. */
  read(bytes: number): void {
    this.#read = new Read(bytes, this.#grew);
  }

  begin({ type, stream }: Omit<FrameHead, 'flags'>, bytes: number): void {
    this.#isBody = type === FRAME.data;
    this.#stream = stream;
    const isOver = this.#isBody && stream <= this.#newest && !this.#bodies.has(stream);
    if (isOver) this.#thrownAway += bytes + PIECE_BYTES;
  }

  content(bytes: number): void {
    if (!this.#isBody || bytes === 0) return;
    const body = this.#bodies.get(this.#stream) ?? this.#bodyAhead(this.#stream);
    if (body === undefined) return;
    body.received(bytes, this.#read);
    if (this.#bytes > limits.UNREAD_BODIES_BYTES_MAX) body.refuse(tooManyOnConnection());
  }

  /** Returns the body of a request, of which a part may have arrived. Called once per request with a body, in order. */
  of(stream: number): UnreadBody {
    const body = this.#ahead.get(stream) ?? this.#newBody(stream);
    this.#ahead.delete(stream);
    this.#bodies.set(stream, body);
    this.#thrownAway = Math.max(0, this.#thrownAway - limits.STREAM_WINDOW_BYTES);
    this.began(stream);
    return body;
  }

  /** Called for every request without a body, in order. */
  began(stream: number): void {
    this.#newest = stream;
    // Streams before it produce no request any more.
    for (const [each, body] of this.#ahead) if (each <= stream) body.over();
  }

  #bodyAhead(stream: number): UnreadBody | undefined {
    const known = this.#ahead.get(stream);
    if (known !== undefined || stream <= this.#newest) return known;
    const body = this.#newBody(stream);
    this.#ahead.set(stream, body);
    return body;
  }

  #newBody(stream: number): UnreadBody {
    return new UnreadBody(() => {
      this.#bodies.delete(stream);
      this.#ahead.delete(stream);
    });
  }
}

function tooManyOnConnection(): StatusError {
  return new StatusError(
    'TooManyRequests',
    'too many bytes of request bodies wait on this connection, please try again later',
    { details: { retryAfterSeconds: 1 } },
  );
}

/** One read of the connection. It stays in memory while a body has an unread chunk of it. */
class Read {
  readonly bytes: number;
  readonly #grew: (bytes: number) => void;
  #bodies = 0;

  constructor(bytes: number, grew: (bytes: number) => void) {
    this.bytes = bytes;
    this.#grew = grew;
  }

  keep(): void {
    this.#bodies += 1;
    if (this.#bodies === 1) this.#grew(this.bytes);
  }

  /** Adds or removes the overhead of chunks. */
  addPieces(count: number): void {
    this.#grew(count * PIECE_BYTES);
  }

  letGo(): void {
    this.#bodies -= 1;
    if (this.#bodies === 0) this.#grew(-this.bytes);
  }
}

/** The part of one body in one read of the connection. */
interface Part {
  readonly read: Read;
  /** Bytes of the body. */
  bytes: number;
  pieces: number;
}

/** The unread part of one body. */
export class UnreadBody {
  readonly #onOver: () => void;
  #parts: Part[] = [];
  /**
   * The number of parts that are consumed. They are removed in batches: removing each from the front would move all
   * others.
   */
  #readParts = 0;
  /** Its memory; reads shared with other bodies count in full. */
  #bytes = 0;
  #counter: BodyCounter | undefined = undefined;
  #refused: StatusError | undefined = undefined;
  #onRefused: ((why: StatusError) => void) | undefined = undefined;

  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  received(bytes: number, read: Read): void {
    const last = this.#parts.at(-1);
    read.addPieces(1);
    if (last?.read === read) {
      last.bytes += bytes;
      last.pieces += 1;
      this.#grow(PIECE_BYTES);
    } else {
      read.keep();
      this.#parts.push({ read, bytes, pieces: 1 });
      this.#grow(read.bytes + PIECE_BYTES);
    }
  }

  /** Notes that so many bytes were consumed. */
  taken(bytes: number): void {
    let left = bytes;
    while (left > 0) {
      const first = this.#parts[this.#readParts];
      if (first === undefined) break;
      const taken = Math.min(left, first.bytes);
      left -= taken;
      first.bytes -= taken;
      if (first.bytes > 0) break;
      this.#readParts += 1;
      this.#letGo(first);
    }
    if (2 * this.#readParts >= this.#parts.length) this.#parts = this.#unreadParts();
  }

  /** Called when the request has ended, or will not be reported. */
  over(): void {
    for (const part of this.#unreadParts()) this.#letGo(part);
    this.#parts = [];
    this.#onOver();
  }

  /** Returns the unread parts and forgets the consumed ones. */
  #unreadParts(): Part[] {
    const parts = this.#parts.slice(this.#readParts);
    this.#readParts = 0;
    return parts;
  }

  /** Sets a listener that is called once if the body exceeds a limit; at once if it already has. */
  onRefused(refused: (why: StatusError) => void): void {
    this.#onRefused = refused;
    if (this.#refused !== undefined) refused(this.#refused);
  }

  refuse(why: StatusError): void {
    if (this.#refused !== undefined) return;
    this.#refused = why;
    this.#onRefused?.(why);
  }

  /**
   * Counts the body for its user from now on, except for the first bytes, which an HTTP/1.1 connection may buffer as
   * well.
   */
  countFor(user: UserInfo, held: HeldBytes): void {
    this.#counter ??= { user, held, counted: 0 };
    this.#count(this.#counter);
  }

  #letGo({ read, pieces }: Part): void {
    read.addPieces(-pieces);
    read.letGo();
    this.#grow(-read.bytes - pieces * PIECE_BYTES);
  }

  #grow(bytes: number): void {
    this.#bytes += bytes;
    if (this.#counter !== undefined) this.#count(this.#counter);
  }

  #count(counter: BodyCounter): void {
    const { user, held, counted } = counter;
    const more = Math.max(0, this.#bytes - limits.UNREAD_BODY_BYTES_MIN) - counted;
    if (more === 0 || (more > 0 && this.#refused !== undefined)) return;
    if (more > 0 && !held.hasRoom(user, more)) {
      this.refuse(
        held.refusal(user, more, 'too many bytes of request bodies are in memory, please try again later'),
      );
      return;
    }
    counter.counted += more;
    held.add(user, more);
  }
}

interface BodyCounter {
  readonly user: UserInfo;
  readonly held: HeldBytes;
  counted: number;
}
