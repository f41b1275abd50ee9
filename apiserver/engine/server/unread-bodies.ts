import { StatusError } from '../../../shared/errors/status-error';
import type { UserInfo } from '../request/exchange';
import type { FrameHead } from './frame-reader';
import { FRAME } from './frame-reader';
import type { HeldBytes } from './held-bytes';
import * as limits from './limits';

/** What a piece of a body takes beside its bytes. */
const PIECE_BYTES = 256;

/**
 * What has come over one connection of HTTP/2 of bodies that nobody has read yet. Node keeps it by the streams, each up to its window, and gives
 * the window of the connection back at once. Each piece is a part of what came in one read of the connection, and keeps all of that: a read counts
 * until the last piece of it is read.
 */
export class UnreadBodies {
  /** Those of requests under way. */
  readonly #bodies = new Map<number, UnreadBody>();
  /** What has come of requests that are not known yet. */
  readonly #ahead = new Map<number, UnreadBody>();
  /** The newest stream of which the request is known: what comes for an older one that has no body here is thrown away. */
  #newest = 0;
  #stream = 0;
  #isBody = false;
  #read: Read;
  #bytes = 0;
  /** What came and was thrown away, less what each request may still send once it is over. */
  #thrownAway = 0;
  readonly #grew = (bytes: number): void => {
    this.#bytes += bytes;
  };

  constructor() {
    this.#read = new Read(0, this.#grew);
  }

  /** What they take together. */
  get bytes(): number {
    return this.#bytes;
  }

  /** There is so much that to refuse requests has not helped. */
  get isFull(): boolean {
    return this.#bytes > limits.UNREAD_BODIES_BYTES_CUT;
  }

  /** There came more for requests that are over than a client sends that keeps to their windows. */
  get isMisused(): boolean {
    return this.#thrownAway > limits.THROWN_AWAY_BYTES_CUT;
  }

  /** To be called before the frames of each read of the connection. */
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

  /** The body of a request, of which something may have come. To be called once for each that has one, in their order. */
  of(stream: number): UnreadBody {
    const body = this.#ahead.get(stream) ?? this.#newBody(stream);
    this.#ahead.delete(stream);
    this.#bodies.set(stream, body);
    this.#thrownAway = Math.max(0, this.#thrownAway - limits.STREAM_WINDOW_BYTES);
    this.began(stream);
    return body;
  }

  /** To be called for every other request, in their order. */
  began(stream: number): void {
    this.#newest = stream;
    // Of those before it there will be no request.
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

/** What came in one read of the connection; it is kept for as long as a body has an unread piece of it. */
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

  /** A piece more of it. */
  addPieces(count: number): void {
    this.#grew(count * PIECE_BYTES);
  }

  letGo(): void {
    this.#bodies -= 1;
    if (this.#bodies === 0) this.#grew(-this.bytes);
  }
}

/** Of one body, what came in one read of the connection. */
interface Part {
  readonly read: Read;
  /** Of the body. */
  bytes: number;
  pieces: number;
}

/** What has come of one body and was not read yet. */
export class UnreadBody {
  readonly #onOver: () => void;
  #parts: Part[] = [];
  /** How many of them were read. They go together: to take each out of the front by itself would move all behind it. */
  #readParts = 0;
  /** What it takes; reads that others keep as well count in full. */
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

  /** So many of its bytes were read. */
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

  /** Its request is over, or there will be none. */
  over(): void {
    for (const part of this.#unreadParts()) this.#letGo(part);
    this.#parts = [];
    this.#onOver();
  }

  /** Those that were not; the others are forgotten. */
  #unreadParts(): Part[] {
    const parts = this.#parts.slice(this.#readParts);
    this.#readParts = 0;
    return parts;
  }

  /** `refused` is called once if there is no room for it, at once if there was none. */
  onRefused(refused: (why: StatusError) => void): void {
    this.#onRefused = refused;
    if (this.#refused !== undefined) refused(this.#refused);
  }

  refuse(why: StatusError): void {
    if (this.#refused !== undefined) return;
    this.#refused = why;
    this.#onRefused?.(why);
  }

  /** From here on it counts for its user, but for the first bytes, which are no more than what a connection of HTTP/1.1 may keep. */
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
