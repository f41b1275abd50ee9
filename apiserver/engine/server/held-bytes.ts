import { StatusError } from '../../../shared/errors/status-error';
import { USER_GROUP } from '../../../shared/names';
import type { Exchange, Stage, UserInfo } from '../request/exchange';
import { retryAfterSeconds } from '../request/retry-after';
import * as limits from './limits';

export interface HeldBytesLimits {
  readonly perUserMax: number;
  /** Of all users together. */
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

/** Counts the bytes held in memory by requests in flight, per user and in total, and sheds load over a limit. */
export class HeldBytes {
  /** How often a request was refused. */
  refused = 0;
  readonly #max: HeldBytesLimits;
  readonly #sources: HeldBytesSources;
  readonly #byUser = new Map<string, Drain>();
  readonly #all: Drain;

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

  /**
   * Returns whether so many more bytes may be held for the user. Superusers always have room: they must be able to
   * stop what fills the memory.
   */
  hasRoom(user: UserInfo, bytes: number): boolean {
    const { total } = this;
    if (total + bytes < Math.min(this.#max.perUserMax, this.#max.totalMax)) return true;
    if (user.groups.includes(USER_GROUP.masters)) return true;
    const own = (this.#byUser.get(user.name)?.bytes ?? 0) + bytes;
    if (own <= this.#max.perUserMax && total + bytes <= this.#max.totalMax) return true;
    this.refused += 1;
    return false;
  }

  /** Adds bytes; negative numbers release them, under the same user name. */
  add({ name }: Pick<UserInfo, 'name'>, bytes: number): void {
    const now = this.#sources.now();
    this.#all.add(bytes, now);
    const own = this.#byUser.get(name) ?? new Drain(now);
    own.add(bytes, now);
    if (own.bytes === 0) this.#byUser.delete(name);
    else this.#byUser.set(name, own);
  }

  /**
   * Creates the 429 for a user without room. Retry-After is estimated from the bytes that must be released first and
   * the recent release rate.
   */
  refusal({ name }: Pick<UserInfo, 'name'>, bytes: number, message: string): StatusError {
    const now = this.#sources.now();
    const { perUserMax, totalMax } = this.#max;
    const ownMs = this.#byUser.get(name)?.msUntilGone(bytes - perUserMax, now) ?? 0;
    const waitMs = Math.max(ownMs, this.#all.msUntilGone(bytes - totalMax, now));
    const seconds = retryAfterSeconds(waitMs / MS_PER_SECOND, this.#sources.random);
    return new StatusError('TooManyRequests', message, { details: { retryAfterSeconds: seconds } });
  }
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
 * Creates the stage that sheds requests of a user who does not read the answers to earlier ones, before any work is
 * done. It also starts to count the waiting bytes of the body for the user.
 */
export function createMemoryLimitStage({ answers }: Pick<RequestMemory, 'answers'>): Stage {
  return (exchange, next) => {
    if (answers.hasRoom(exchange.user, 0)) {
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
 * Counts bytes for the exchange's user until the exchange ends. Small amounts are ignored: their connection takes
 * more.
 */
export function holdUntilOver(
  held: HeldBytes,
  exchange: Pick<Exchange, 'user' | 'whenOver'>,
  bytes: number,
): void {
  if (bytes < limits.HELD_BYTES_MIN) return;
  const { user } = exchange;
  held.add(user, bytes);
  exchange.whenOver(() => held.add(user, -bytes));
}
