import { StatusError } from '../../../shared/errors/status-error';
import { USER_GROUP } from '../../../shared/names';
import type { Exchange, Stage, UserInfo } from '../../exchange/exchange';
import * as limits from './limits';

export interface HeldBytesLimits {
  readonly perUserMax: number;
  /** Of all users together. */
  readonly totalMax: number;
}

/** Bytes that are in memory for requests under way: by user, and in all. */
export class HeldBytes {
  /** How often there was no room. */
  refused = 0;
  readonly #max: HeldBytesLimits;
  readonly #byUser = new Map<string, number>();
  #total = 0;

  constructor(max: HeldBytesLimits) {
    this.#max = max;
  }

  get max(): HeldBytesLimits {
    return this.#max;
  }

  get total(): number {
    return this.#total;
  }

  /** Whether so many more may be held for the user. Administrators always have room, for they are to end what fills it. */
  hasRoom(user: UserInfo, bytes: number): boolean {
    if (this.#total + bytes < Math.min(this.#max.perUserMax, this.#max.totalMax)) return true;
    if (user.groups.includes(USER_GROUP.masters)) return true;
    const own = (this.#byUser.get(user.name) ?? 0) + bytes;
    if (own <= this.#max.perUserMax && this.#total + bytes <= this.#max.totalMax) return true;
    this.refused += 1;
    return false;
  }

  /** Negative numbers give back. What a user was given goes back under the same name. */
  add({ name }: Pick<UserInfo, 'name'>, bytes: number): void {
    this.#total += bytes;
    const own = (this.#byUser.get(name) ?? 0) + bytes;
    if (own === 0) this.#byUser.delete(name);
    else this.#byUser.set(name, own);
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

/** Refuses a user's further requests, before there is any work, for as long as the user does not take the answers to earlier ones. */
export function createAnswerLimitStage({ answers }: Pick<RequestMemory, 'answers'>): Stage {
  return (exchange, next) => {
    if (answers.hasRoom(exchange.user, 0)) return next();
    return Promise.reject(
      tooManyBytes('too many bytes of answers are waiting to be read, please try again later'),
    );
  };
}

const RETRY_AFTER_SECONDS = 1;

/** The 429 of a request for which there is no room. */
export function tooManyBytes(message: string): StatusError {
  return new StatusError('TooManyRequests', message, { details: { retryAfterSeconds: RETRY_AFTER_SECONDS } });
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
