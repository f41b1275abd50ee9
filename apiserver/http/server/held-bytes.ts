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

export function createRequestMemory(): RequestMemory {
  return {
    bodies: new HeldBytes({
      perUserMax: limits.BODIES_PER_USER_BYTES_MAX,
      totalMax: limits.BODIES_BYTES_MAX,
    }),
    answers: new HeldBytes({
      perUserMax: limits.ANSWERS_PER_USER_BYTES_MAX,
      totalMax: limits.ANSWERS_BYTES_MAX,
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
