import { StatusError } from '../../../shared/errors/status-error';
import type { Exchange, Stage, UserInfo } from '../request/exchange';
import { holderOf, isSystemUser, isVital } from '../request/holder';
import { retryAfterSeconds } from '../request/retry-after';
import * as limits from './limits';

export interface HeldBytesLimits {
  /** Of one holder: a user, or all service accounts of a namespace. */
  readonly perUserMax: number;
  /** Of all holders together. */
  readonly totalMax: number;
}

/** Clock and randomness. */
export interface HeldBytesSources {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
}

const SOURCES: HeldBytesSources = { now: () => performance.now(), random: () => Math.random() };

/** A part of an answer that its client has not taken yet. */
export interface UnreadPart {
  /** Bytes that are in memory for this client alone. */
  readonly bytes: number;
  /** A frame that other watchers may share: it counts once in all, and once for each holder. */
  readonly shared?: Buffer | undefined;
  readonly isWatch: boolean;
  /** Disconnects the client. The part is released already. */
  readonly evict: () => void;
}

/** A part that is counted until its release. */
export interface HeldPart {
  readonly part: UnreadPart;
  readonly holder: Holder;
  isReleased: boolean;
}

/** One call evicts from at most so many holders, each down to its fair share. */
const RELIEVED_HOLDERS_MAX = 16;

/** By this part of the total, holders below their fair share may exceed it where nothing can be evicted. */
const RESERVE_PART = 1 / 4;

/**
 * Counts the bytes held in memory by requests in flight, for each holder ({@link holderOf}) and in total, and sheds
 * load over a limit. Over its own limit, a holder is refused, and its slowest watches are evicted. Over the total, the
 * largest holders give way. Bodies are never evicted: for a holder below its fair share (the total divided by the
 * holders), there is a reserve.
 */
export class HeldBytes {
  /** How often a request was refused. */
  refused = 0;
  /** How many answers were cut. */
  evicted = 0;
  readonly #max: HeldBytesLimits;
  readonly #sources: HeldBytesSources;
  readonly #holders = new Map<string, Holder>();
  readonly #all: Drain;
  /** How many holders have a frame. */
  readonly #frames = new Map<Buffer, number>();

  constructor(max: HeldBytesLimits, sources: HeldBytesSources = SOURCES) {
    this.#max = max;
    this.#sources = sources;
    this.#all = new Drain(sources.now());
  }

  get max(): HeldBytesLimits {
    return this.#max;
  }

  get total(): number {
    return this.#all.bytes;
  }

  /** Returns whether so many more bytes may be held for the user. The largest holders may lose answers for it. */
  hasRoom(user: UserInfo, bytes: number): boolean {
    const { total } = this;
    const { perUserMax, totalMax } = this.#max;
    if (total + bytes < Math.min(perUserMax, totalMax) || isSystemUser(user)) return true;
    const holder = this.#holders.get(holderOf(user));
    const own = (holder?.bytes ?? 0) + bytes;
    const fairShare = totalMax / (this.#holders.size + (holder === undefined ? 1 : 0));
    if (own <= perUserMax) {
      if (total + bytes <= totalMax) return true;
      if (own <= fairShare) {
        this.#relieve(totalMax - bytes);
        // A request for no bytes adds none: its answer will evict others.
        if (bytes === 0 || this.total + bytes <= totalMax * (1 + RESERVE_PART)) return true;
      }
    }
    this.refused += 1;
    return false;
  }

  /** Adds bytes; negative numbers release them, under the same user name. */
  add(user: Pick<UserInfo, 'name'>, bytes: number): void {
    this.#grow(this.#holderOf(user), bytes, bytes);
  }

  /**
   * Counts a part until {@link release}. Over a limit parts are evicted, perhaps this one: of its own holder the watches
   * that took nothing for the longest time.
   */
  hold(user: UserInfo, part: UnreadPart): HeldPart {
    const holder = this.#holderOf(user);
    const held: HeldPart = { part, holder, isReleased: false };
    this.#count(held, 1);
    const isFixed = isSystemUser(user);
    if (!isFixed) holder.partsLike(part).add(held);
    const { perUserMax, totalMax } = this.#max;
    if (!isFixed && holder.bytes > perUserMax) this.#evict(holder.watches, () => holder.bytes > perUserMax);
    if (this.total > totalMax) this.#relieve(totalMax);
    return held;
  }

  /** Called when the client took something: its part is the last to be evicted then. */
  progressed(held: HeldPart): void {
    const parts = held.holder.partsLike(held.part);
    if (parts.delete(held)) parts.add(held);
  }

  /** Releases a part; does nothing if it is released already. */
  release(held: HeldPart): void {
    if (held.isReleased) return;
    held.isReleased = true;
    held.holder.partsLike(held.part).delete(held);
    this.#count(held, -1);
  }

  /**
   * Creates the 429 for a user without room. Retry-After is estimated from the bytes that must be released first and
   * the recent release rate.
   */
  refusal(user: Pick<UserInfo, 'name'>, bytes: number, message: string): StatusError {
    const now = this.#sources.now();
    const { perUserMax, totalMax } = this.#max;
    const ownMs = this.#holders.get(holderOf(user))?.msUntilGone(bytes - perUserMax, now) ?? 0;
    const waitMs = Math.max(ownMs, this.#all.msUntilGone(bytes - totalMax, now));
    const seconds = retryAfterSeconds(waitMs / MS_PER_SECOND, this.#sources.random);
    return new StatusError('TooManyRequests', message, { details: { retryAfterSeconds: seconds } });
  }

  #holderOf(user: Pick<UserInfo, 'name'>): Holder {
    const key = holderOf(user);
    return this.#holders.get(key) ?? new Holder(key, this.#sources.now());
  }

  #count({ part: { bytes, shared }, holder }: HeldPart, by: 1 | -1): void {
    const isCounted = shared !== undefined && addUse(holder.frames, shared, by);
    const isCountedInAll = isCounted && addUse(this.#frames, shared, by);
    const sharedBytes = shared?.length ?? 0;
    this.#grow(
      holder,
      by * (bytes + (isCounted ? sharedBytes : 0)),
      by * (bytes + (isCountedInAll ? sharedBytes : 0)),
    );
  }

  #grow(holder: Holder, bytes: number, bytesInAll: number): void {
    const now = this.#sources.now();
    holder.add(bytes, now);
    this.#all.add(bytesInAll, now);
    // A part without bytes may outlive its holder here, of which there is another one then.
    if (holder.bytes !== 0) this.#holders.set(holder.key, holder);
    else if (this.#holders.get(holder.key) === holder) this.#holders.delete(holder.key);
  }

  /** Evicts answers of the largest holders until the total is at most `bytesMax`. */
  #relieve(bytesMax: number): void {
    const fairShare = this.#max.totalMax / Math.max(1, this.#holders.size);
    const relieved = new Set<Holder>();
    while (this.total > bytesMax && relieved.size < RELIEVED_HOLDERS_MAX) {
      const largest = [...this.#holders.values()]
        .filter((holder) => !relieved.has(holder))
        .reduce<Holder | undefined>(
          (most, each) => (most !== undefined && most.bytes >= each.bytes ? most : each),
          undefined,
        );
      if (largest === undefined || largest.bytes <= fairShare) return;
      relieved.add(largest);
      const isDue = (): boolean => this.total > bytesMax && largest.bytes > fairShare;
      this.#evict(largest.watches, isDue);
      this.#evict(largest.others, isDue);
    }
  }

  #evict(parts: ReadonlySet<HeldPart>, isDue: () => boolean): void {
    for (const held of parts) {
      if (!isDue()) return;
      this.evicted += 1;
      this.release(held);
      held.part.evict();
    }
  }
}

/** Adds or removes a use. Returns whether it is the first, or was the last. */
function addUse(uses: Map<Buffer, number>, frame: Buffer, by: 1 | -1): boolean {
  const before = uses.get(frame) ?? 0;
  const after = before + by;
  if (after === 0) uses.delete(frame);
  else uses.set(frame, after);
  return before === 0 || after === 0;
}

const MS_PER_SECOND = 1_000;
/** The window of the release rate. */
const DRAIN_WINDOW_MS = 10_000;

/** Bytes that are held, and the recent release rate. */
class Drain {
  bytes = 0;
  #gone = 0;
  #since: number;

  constructor(now: number) {
    this.#since = now;
  }

  add(bytes: number, now: number): void {
    this.bytes += bytes;
    if (bytes < 0) this.#gone -= bytes;
    if (now - this.#since <= DRAIN_WINDOW_MS) return;
    this.#since = now - DRAIN_WINDOW_MS / 2;
    this.#gone /= 2;
  }

  /**
   * Estimates the milliseconds until `beyond` added to the held bytes is at most 0. Without any release, the time
   * since the last one.
   */
  msUntilGone(beyond: number, now: number): number {
    const excess = this.bytes + beyond;
    const tookMs = now - this.#since;
    if (excess <= 0) return 0;
    return this.#gone === 0 ? tookMs : (tookMs * excess) / this.#gone;
  }
}

/** What one holder has in memory. */
class Holder extends Drain {
  readonly key: string;
  /** Unread parts that can be evicted, those without progress for the longest time first. */
  readonly watches = new Set<HeldPart>();
  readonly others = new Set<HeldPart>();
  readonly frames = new Map<Buffer, number>();

  constructor(key: string, now: number) {
    super(now);
    this.key = key;
  }

  partsLike({ isWatch }: UnreadPart): Set<HeldPart> {
    return isWatch ? this.watches : this.others;
  }
}

/** The memory of requests in flight that clients control. */
export interface RequestMemory {
  /** Request bodies, from their first bytes until the request ends. */
  readonly bodies: HeldBytes;
  /** Answers that clients have not read yet. */
  readonly answers: HeldBytes;
}

/**
 * Shares of the budget: a byte of a body becomes several when parsed, a byte of an answer stays one; the rest is for
 * uncounted memory.
 */
const BODIES_SHARE = 1 / 8;
const ANSWERS_SHARE = 1 / 2;
/** The share of one user. */
const USER_SHARE = 1 / 4;

/**
 * Creates the limits for a process that may hold so many bytes in flight, up to the absolute limits. One user may
 * always have one body of the largest size.
 */
export function createRequestMemory(inFlightBytesMax = Infinity): RequestMemory {
  const bodies = Math.min(limits.BODIES_BYTES_MAX, inFlightBytesMax * BODIES_SHARE);
  const answers = Math.min(limits.ANSWERS_BYTES_MAX, inFlightBytesMax * ANSWERS_SHARE);
  return {
    bodies: new HeldBytes({
      perUserMax: Math.max(
        limits.BODY_BYTES_MAX,
        Math.min(limits.BODIES_PER_USER_BYTES_MAX, bodies * USER_SHARE),
      ),
      totalMax: bodies,
    }),
    answers: new HeldBytes({
      perUserMax: Math.min(limits.ANSWERS_PER_USER_BYTES_MAX, answers * USER_SHARE),
      totalMax: answers,
    }),
  };
}

/**
 * Creates the stage that sheds requests of a user whose earlier answers are unread, before any work is done. It also
 * starts to count the waiting bytes of the body for the user.
 */
export function createMemoryLimitStage({ answers }: Pick<RequestMemory, 'answers'>): Stage {
  return (exchange, next) => {
    if (isVital(exchange.info) || answers.hasRoom(exchange.user, 0)) {
      exchange.countUnread?.();
      return next();
    }
    return Promise.reject(
      answers.refusal(
        exchange.user,
        0,
        'too many bytes of answers are waiting to be read, please try again later',
      ),
    );
  };
}

/**
 * Counts an answer for the exchange's user until the exchange ends. Small ones are ignored: their connection takes
 * more.
 */
export function holdUntilOver(
  answers: HeldBytes,
  exchange: Pick<Exchange, 'user' | 'whenOver'>,
  answer: Pick<UnreadPart, 'bytes' | 'evict'>,
): void {
  if (answer.bytes < limits.HELD_BYTES_MIN) return;
  const held = answers.hold(exchange.user, { ...answer, isWatch: false });
  exchange.whenOver(() => {
    answers.release(held);
  });
}
