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

/** How bytes come back, and chance. */
export interface HeldBytesSources {
  /** Milliseconds from any beginning. */
  readonly now: () => number;
  /** From 0 to 1, without 1. */
  readonly random: () => number;
}

const SOURCES: HeldBytesSources = { now: () => performance.now(), random: () => Math.random() };

/** Bytes that are in memory for requests under way: by user, and in all. */
export class HeldBytes {
  /** How often there was no room. */
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

  /** Whether so many more may be held for the user. Administrators always have room, for they are to end what fills it. */
  hasRoom(user: UserInfo, bytes: number): boolean {
    const { total } = this;
    if (total + bytes < Math.min(this.#max.perUserMax, this.#max.totalMax)) return true;
    if (user.groups.includes(USER_GROUP.masters)) return true;
    const own = (this.#byUser.get(user.name)?.bytes ?? 0) + bytes;
    if (own <= this.#max.perUserMax && total + bytes <= this.#max.totalMax) return true;
    this.refused += 1;
    return false;
  }

  /** Negative numbers give back. What a user was given goes back under the same name. */
  add({ name }: Pick<UserInfo, 'name'>, bytes: number): void {
    const now = this.#sources.now();
    this.#all.add(bytes, now);
    const own = this.#byUser.get(name) ?? new Drain(now);
    own.add(bytes, now);
    if (own.bytes === 0) this.#byUser.delete(name);
    else this.#byUser.set(name, own);
  }

  /** The 429 of a user who found no room for so many bytes; it says when to come again, by what has to go before and how fast it goes. */
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
/** How far back it is told how fast bytes go. */
const DRAIN_WINDOW_MS = 10_000;

/** Bytes that are held, and how many of them went of late. */
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

  /** How long it takes until all but so few are gone: `beyond` is added to what is held. If none goes, as long as that has been so. */
  msUntilGone(beyond: number, now: number): number {
    const excess = this.bytes + beyond;
    const tookMs = now - this.#since;
    if (excess <= 0) return 0;
    return this.#gone === 0 ? tookMs : (tookMs * excess) / this.#gone;
  }
}

/** The memory of requests under way that clients decide on. */
export interface RequestMemory {
  /** Request bodies, from their first bytes until their request is over. */
  readonly bodies: HeldBytes;
  /** Answers that clients have not taken yet. */
  readonly answers: HeldBytes;
}

/** Of the budget: a byte of a body becomes several once it is parsed, one of an answer stays one, and the rest is for what is not counted. */
const BODIES_SHARE = 1 / 8;
const ANSWERS_SHARE = 1 / 2;
/** Of that, what one user may have. */
const USER_SHARE = 1 / 4;

/**
 * The bounds of a process that may have so many bytes in flight: never more than those of the largest process. One user may always have one
 * body of the largest size.
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
 * Refuses a user's further requests, before there is any work, for as long as the user does not take the answers to earlier ones, and begins to
 * count for the user what waits of the body.
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

/** Counts bytes for the exchange's user until the exchange is over. Small ones are less than what their connection takes itself. */
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
