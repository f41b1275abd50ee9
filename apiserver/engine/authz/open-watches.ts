import { forEachLimited } from '../../../shared/concurrency/for-each-limited';
import { pause } from '../../../shared/concurrency/pause';
import { Slices } from '../../../shared/concurrency/slices';
import { withTimeLimit } from '../../../shared/concurrency/time-limit';
import type { StatusError } from '../../../shared/errors/status-error';
import type { Log } from '../../../shared/log/log';
import type { AccessCondition } from '../request/access-condition';

/** The interval between checks for changed roles and bindings, and of the conditions of new watches. */
const CHECK_MS = 1_000;
/** The interval between checks of all conditions: credentials and webhook results expire without an event. */
const CHECK_ALL_MS = 10_000;
/** Concurrent checks, which bounds the concurrent calls of an authorization webhook. */
const CONCURRENT_CHECKS = 16;
/** The time limit of one round; the remaining conditions are checked in the next one. */
const ROUND_MS_MAX = 5_000;

export interface OpenWatchesOptions {
  /** A counter that grows with every change of roles and bindings. Rejects while they are unavailable. */
  readonly generation: (signal: AbortSignal) => Promise<number>;
  readonly log: Log;
}

/** Closes one watch with the error. */
type Refuse = (refusal: StatusError) => void;

/** An access condition and the watches that depend on it. */
interface Held {
  readonly condition: AccessCondition;
  readonly watches: Set<Refuse>;
}

/**
 * Access revocation for open watches: a watch is closed within seconds after its user lost access or its credential expired. A condition that
 * many watches share is checked once. The checks run in slices of the event loop.
 */
export class OpenWatches {
  readonly #options: OpenWatchesOptions;
  readonly #held = new Map<unknown, Held>();
  /**
   * The conditions to check: access may have changed since the last check, or between the authorization of a watch and its registration. What
   * one round has no time for stays here.
   */
  readonly #due = new Set<Held>();
  #generation: number | undefined;

  constructor(options: OpenWatchesOptions) {
    this.#options = options;
  }

  /** Registers a watch and returns the function that unregisters it. `refuse` is called at most once for each condition that fails. */
  hold(conditions: readonly AccessCondition[], refuse: Refuse): () => void {
    const all = conditions.map((condition) => this.#getHeld(condition));
    for (const held of all) {
      held.watches.add(refuse);
      this.#due.add(held);
    }
    return () => {
      for (const held of all) this.#release(held, refuse);
    };
  }

  /** Checks periodically until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    let nextOfAll = performance.now() + CHECK_ALL_MS;
    for (;;) {
      await pause(CHECK_MS, signal);
      if (signal.aborted) return;
      const isForAll = performance.now() >= nextOfAll;
      if (isForAll) nextOfAll = performance.now() + CHECK_ALL_MS;
      await this.check(isForAll ? 'all' : 'changed', signal);
    }
  }

  /** Runs one round and closes the watches whose conditions fail. Never rejects; a failed check is repeated in a later round. */
  async check(scope: 'all' | 'changed', signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    const problems: unknown[] = [];
    try {
      await withTimeLimit(signal, ROUND_MS_MAX, async (inTime) => {
        const due = await this.#collectDue(scope, inTime);
        const slices = new Slices();
        await forEachLimited(due, CONCURRENT_CHECKS, async (held) => {
          if (slices.due()) await slices.pause();
          await this.#checkOne(held, inTime).catch((error: unknown) => problems.push(error));
        });
      });
    } catch (error) {
      problems.push(error);
    }
    if (problems.length > 0 && !signal.aborted) {
      log.debug(
        { conditions: problems.length, error: String(problems[0]) },
        'failed to check whether watches may stay open; they stay open',
      );
    }
  }

  /** The number of distinct conditions. */
  get size(): number {
    return this.#held.size;
  }

  async #collectDue(scope: 'all' | 'changed', signal: AbortSignal): Promise<readonly Held[]> {
    if (this.#held.size === 0) return [];
    const generation = await this.#options.generation(signal).catch(() => this.#generation);
    const isChanged = generation !== this.#generation;
    this.#generation = generation;
    for (const held of this.#held.values()) {
      if (scope === 'all' || (isChanged && held.condition.of === 'access')) this.#due.add(held);
    }
    return [...this.#due];
  }

  async #checkOne(held: Held, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#due.delete(held);
    const refusal = await held.condition.refusal(signal);
    if (refusal === undefined || signal.aborted) return;
    const watches = [...held.watches];
    const slices = new Slices();
    for (const refuse of watches) {
      refuse(refusal);
      if (slices.due()) await slices.pause();
    }
    const { message } = refusal;
    this.#options.log.info(
      { watches: watches.length, reason: message },
      'terminating watches: access was revoked',
    );
  }

  #getHeld(condition: AccessCondition): Held {
    const known = this.#held.get(condition.key);
    if (known !== undefined) return known;
    const held: Held = { condition, watches: new Set() };
    this.#held.set(condition.key, held);
    return held;
  }

  #release(held: Held, refuse: Refuse): void {
    held.watches.delete(refuse);
    if (held.watches.size > 0) return;
    this.#due.delete(held);
    if (this.#held.get(held.condition.key) === held) this.#held.delete(held.condition.key);
  }
}
