import type { RandomInt } from '../../../../shared/meta/generate-name';
import type { Claims, Owner } from './claims';
import type { ValueRange } from './value-range';

/** A value of a range that now belongs to somebody. */
export interface Taken {
  readonly value: string;
  readonly revision: number;
  /** False: it belonged to the same owner before. */
  readonly isNew: boolean;
}

export type TakeOutcome =
  | { readonly ok: true; readonly taken: Taken }
  | { readonly ok: false; readonly why: 'taken' | 'outside' | 'full' };

/** Guesses before the whole range is looked at: in a half-full range one more than a handful is rare. */
const GUESSES = 8;
/** How often a value that was seen free may be gone when it is claimed, before the range counts as full. */
const CONTESTED_TRIES_MAX = 32;
/** A free value has no owner, not even the requesting one. */
const FRESH = { adopts: false } as const;

/** The values of one range, each given to one owner at a time, over all replicas. */
export class Pool {
  readonly range: ValueRange;
  readonly claims: Claims;
  readonly #randomInt: RandomInt;

  constructor(range: ValueRange, claims: Claims, randomInt: RandomInt) {
    this.range = range;
    this.claims = claims;
    this.#randomInt = randomInt;
  }

  /** Takes this very value. */
  async take(value: string, owner: Owner, signal: AbortSignal): Promise<TakeOutcome> {
    const index = this.range.indexOf(value);
    if (index === undefined) return { ok: false, why: 'outside' };
    return (await this.#claim(index, owner, { adopts: true }, signal)) ?? { ok: false, why: 'taken' };
  }

  /** Takes any free value: random ones first, then one of those that are seen to be free. */
  async takeAny(owner: Owner, signal: AbortSignal): Promise<TakeOutcome> {
    for (let guess = 0; guess < GUESSES; guess += 1) {
      const outcome = await this.#claim(this.#randomInt(this.range.size), owner, FRESH, signal);
      if (outcome !== undefined) return outcome;
    }
    for (let tries = 0; tries < CONTESTED_TRIES_MAX; tries += 1) {
      const free = await this.#freeIndex(signal);
      if (free === undefined) break;
      const outcome = await this.#claim(free, owner, FRESH, signal);
      if (outcome !== undefined) return outcome;
    }
    return { ok: false, why: 'full' };
  }

  /** Whether somebody has the value. */
  async has(value: string, signal: AbortSignal): Promise<boolean> {
    return this.claims.has(value, signal);
  }

  async #claim(
    index: number,
    owner: Owner,
    how: { readonly adopts: boolean },
    signal: AbortSignal,
  ): Promise<TakeOutcome | undefined> {
    const value = this.range.at(index);
    const outcome = await this.claims.claim(value, owner, how, signal);
    if (!outcome.ok) return undefined;
    return { ok: true, taken: { value, revision: outcome.revision, isNew: outcome.isNew } };
  }

  /** A random one of the free values; undefined when all are taken. */
  async #freeIndex(signal: AbortSignal): Promise<number | undefined> {
    const isTaken = new Uint8Array(this.range.size);
    let free = this.range.size;
    for await (const { claims } of this.claims.pages(signal)) {
      for (const { value } of claims) {
        const index = this.range.indexOf(value);
        if (index === undefined || isTaken[index] === 1) continue;
        isTaken[index] = 1;
        free -= 1;
      }
    }
    if (free === 0) return undefined;
    let skip = this.#randomInt(free);
    return isTaken.findIndex((taken) => taken === 0 && skip-- === 0);
  }
}
