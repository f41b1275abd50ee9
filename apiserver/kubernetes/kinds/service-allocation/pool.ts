import type { RandomInt } from '../../../../shared/meta/generate-name';
import type { Claims, Owner } from './claims';
import type { ValueRange } from './value-range';
import { canonicalAddress } from './value-range';

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

/** Objects that show which values are taken, besides their claims. */
export interface ValueRecords {
  /** Creates the record of a claimed value. Returns false if another object has it. */
  add(value: string, owner: Owner, signal: AbortSignal): Promise<boolean>;
  /** Removes the record of a value, if it is the owner's. */
  remove(value: string, owner: Owner, signal: AbortSignal): Promise<void>;
  /** The values that have a record. */
  values(): Iterable<string>;
}

/** The time limit of a release. It continues after the request ends; repair finds values that were not released in time. */
export const GIVE_BACK_TIMEOUT_MS = 5_000;
/** Guesses before the whole range is looked at: in a half-full range one more than a handful is rare. */
const GUESSES = 8;
/** How often a value that was seen free may be gone when it is claimed, before the range counts as full. */
const CONTESTED_TRIES_MAX = 32;
/** A free value has no owner, not even the requesting one. */
const FRESH = { adopts: false } as const;

export interface PoolParts {
  readonly claims: Claims;
  readonly randomInt: RandomInt;
  /** Absent: values have a claim alone. */
  readonly records?: ValueRecords | undefined;
  /** How many values at the beginning are given to those that ask for any only when all others are taken. Default: none. */
  readonly reservedForRequests?: number;
}

/** The values of one range, each given to one owner at a time, over all replicas. */
export class Pool {
  readonly range: ValueRange;
  readonly claims: Claims;
  readonly #parts: PoolParts;

  constructor(range: ValueRange, parts: PoolParts) {
    this.range = range;
    this.claims = parts.claims;
    this.#parts = parts;
  }

  /** Takes this very value. */
  async take(value: string, owner: Owner, signal: AbortSignal): Promise<TakeOutcome> {
    if (this.range.indexOf(value) === undefined) return { ok: false, why: 'outside' };
    const outcome = await this.#claim(canonicalAddress(value), owner, { adopts: true }, signal);
    return outcome ?? { ok: false, why: 'taken' };
  }

  /** Takes any free value: random ones first, then one of those that are seen to be free. */
  async takeAny(owner: Owner, signal: AbortSignal): Promise<TakeOutcome> {
    const { reservedForRequests: low = 0 } = this.#parts;
    for (const part of [
      { from: low, size: this.range.size - low },
      { from: 0, size: low },
    ]) {
      const outcome = part.size > 0 ? await this.#takeOf(part, owner, signal) : undefined;
      if (outcome !== undefined) return outcome;
    }
    return { ok: false, why: 'full' };
  }

  /** Whether somebody has the value. */
  async has(value: string, signal: AbortSignal): Promise<boolean> {
    return this.claims.has(value, signal);
  }

  /** Gives back what `take` returned. */
  async giveBack({ value, revision }: Taken, owner: Owner, signal: AbortSignal): Promise<void> {
    await this.#parts.records?.remove(value, owner, signal);
    await this.claims.release(value, revision, signal);
  }

  /** Gives back a value for which the owner has had no use since this revision. */
  async letGo(value: string, owner: Owner, revision: number, signal: AbortSignal): Promise<void> {
    await this.#parts.records?.remove(value, owner, signal);
    await this.claims.releaseBefore(value, owner, revision, signal);
  }

  async #takeOf(part: Part, owner: Owner, signal: AbortSignal): Promise<TakeOutcome | undefined> {
    const { randomInt } = this.#parts;
    for (let guess = 0; guess < GUESSES; guess += 1) {
      const value = this.range.at(part.from + randomInt(part.size));
      const outcome = await this.#claim(value, owner, FRESH, signal);
      if (outcome !== undefined) return outcome;
    }
    for (let tries = 0; tries < CONTESTED_TRIES_MAX; tries += 1) {
      const free = await this.#freeIndex(part, signal);
      if (free === undefined) return undefined;
      const outcome = await this.#claim(this.range.at(free), owner, FRESH, signal);
      if (outcome !== undefined) return outcome;
    }
    return undefined;
  }

  async #claim(
    value: string,
    owner: Owner,
    how: { readonly adopts: boolean },
    signal: AbortSignal,
  ): Promise<TakeOutcome | undefined> {
    const outcome = await this.claims.claim(value, owner, how, signal);
    if (!outcome.ok) return undefined;
    const { revision, isNew } = outcome;
    if (await this.#isRecorded({ value, revision, isNew }, owner, signal)) {
      return { ok: true, taken: { value, revision, isNew } };
    }
    return undefined;
  }

  /** Records a claimed value. Without its record, a claim that was made for it is given back. */
  async #isRecorded(taken: Taken, owner: Owner, signal: AbortSignal): Promise<boolean> {
    const { records } = this.#parts;
    if (records === undefined) return true;
    try {
      if (await records.add(taken.value, owner, signal)) return true;
    } catch (error) {
      // The request may have ended. Repair releases what cannot be given back now.
      await this.#undo(taken, AbortSignal.timeout(GIVE_BACK_TIMEOUT_MS)).catch(() => undefined);
      throw error;
    }
    await this.#undo(taken, signal);
    return false;
  }

  async #undo({ value, revision, isNew }: Taken, signal: AbortSignal): Promise<void> {
    if (isNew) await this.claims.release(value, revision, signal);
  }

  /** The first free value after a random one, as upstream looks for it; undefined when all are taken. */
  async #freeIndex({ from, size }: Part, signal: AbortSignal): Promise<number | undefined> {
    const { records, randomInt } = this.#parts;
    const taken = new Set<number>();
    const note = (value: string): void => {
      const index = this.range.indexOf(value);
      if (index !== undefined && index >= from && index < from + size) taken.add(index);
    };
    for await (const { claims } of this.claims.pages(signal)) for (const { value } of claims) note(value);
    for (const value of records?.values() ?? []) note(value);
    const start = randomInt(size);
    // At most one step more than there are taken values.
    for (let step = 0; step < size; step += 1) {
      const index = from + ((start + step) % size);
      if (!taken.has(index)) return index;
    }
    return undefined;
  }
}

interface Part {
  readonly from: number;
  readonly size: number;
}
