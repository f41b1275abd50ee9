import { forEachLimited } from '../../../shared/concurrency/for-each-limited';
import { pause } from '../../../shared/concurrency/pause';
import { Slices } from '../../../shared/concurrency/slices';
import { withTimeLimit } from '../../../shared/concurrency/time-limit';
import type { StatusError } from '../../../shared/errors/status-error';
import type { Log } from '../../../shared/log/log';
import type { AccessCondition } from '../request/access-condition';

/** How often it is asked whether roles or bindings have changed, and what watches that are new stand on is looked at once more. */
const LOOK_MS = 1_000;
/** How often everything is looked at: credentials, and what a remote service allows, end without anybody telling. */
const LOOK_AT_ALL_MS = 10_000;
/** How many grounds are looked at together, so that a remote service gets no more questions at once. */
const LOOKS_AT_ONCE = 16;
/** What was not looked at by then has its turn another time. */
const LOOK_MS_MAX = 5_000;

export interface OpenWatchesOptions {
  /** Grows with every change of roles and bindings that may change a decision. Rejects while it is not known. */
  readonly generation: (signal: AbortSignal) => Promise<number>;
  readonly log: Log;
}

/** Ends one watch with the refusal. */
type Refuse = (refusal: StatusError) => void;

/** A ground and the watches that stand on it. */
interface Held {
  readonly ground: AccessCondition;
  readonly watches: Set<Refuse>;
}

/**
 * The watches that are open, by what they were let in on: a watch ends, within seconds, once its next request would be refused. What many
 * stand on is looked at once, in slices of the event loop.
 */
export class OpenWatches {
  readonly #options: OpenWatchesOptions;
  readonly #held = new Map<unknown, Held>();
  /**
   * Those that are due: something may have changed since they were looked at, or between the authorization of a watch and its beginning. What
   * there was no time for stays among them.
   */
  readonly #unseen = new Set<Held>();
  #generation: number | undefined;

  constructor(options: OpenWatchesOptions) {
    this.#options = options;
  }

  /** Keeps a watch on its grounds until what this returns is called; `refuse` is called at most once for each ground that is lost. */
  hold(grounds: readonly AccessCondition[], refuse: Refuse): () => void {
    const all = grounds.map((ground) => this.#heldOn(ground));
    for (const held of all) {
      held.watches.add(refuse);
      this.#unseen.add(held);
    }
    return () => {
      for (const held of all) this.#release(held, refuse);
    };
  }

  /** Looks again and again, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    let nextOfAll = performance.now() + LOOK_AT_ALL_MS;
    for (;;) {
      await pause(LOOK_MS, signal);
      if (signal.aborted) return;
      const isForAll = performance.now() >= nextOfAll;
      if (isForAll) nextOfAll = performance.now() + LOOK_AT_ALL_MS;
      await this.look(isForAll ? 'at all' : 'at what changed', signal);
    }
  }

  /** Looks once, and ends the watches that have lost a ground. Never rejects: what cannot be told now is looked at another time. */
  async look(scope: 'at all' | 'at what changed', signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    const problems: unknown[] = [];
    try {
      await withTimeLimit(signal, LOOK_MS_MAX, async (inTime) => {
        const due = await this.#due(scope, inTime);
        const slices = new Slices();
        await forEachLimited(due, LOOKS_AT_ONCE, async (held) => {
          if (slices.due()) await slices.pause();
          await this.#lookAt(held, inTime).catch((error: unknown) => problems.push(error));
        });
      });
    } catch (error) {
      problems.push(error);
    }
    if (problems.length > 0 && !signal.aborted) {
      log.debug(
        { grounds: problems.length, error: String(problems[0]) },
        'failed to look whether watches may stay open; they stay for now',
      );
    }
  }

  /** What many watches stand on counts once. */
  get size(): number {
    return this.#held.size;
  }

  async #due(scope: 'at all' | 'at what changed', signal: AbortSignal): Promise<readonly Held[]> {
    if (this.#held.size === 0) return [];
    const generation = await this.#options.generation(signal).catch(() => this.#generation);
    const isChanged = generation !== this.#generation;
    this.#generation = generation;
    for (const held of this.#held.values()) {
      if (scope === 'at all' || (isChanged && held.ground.of === 'access')) this.#unseen.add(held);
    }
    return [...this.#unseen];
  }

  async #lookAt(held: Held, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#unseen.delete(held);
    const refusal = await held.ground.refusal(signal);
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
      'watches ended: what let them in is lost',
    );
  }

  #heldOn(ground: AccessCondition): Held {
    const known = this.#held.get(ground.key);
    if (known !== undefined) return known;
    const held: Held = { ground, watches: new Set() };
    this.#held.set(ground.key, held);
    return held;
  }

  #release(held: Held, refuse: Refuse): void {
    held.watches.delete(refuse);
    if (held.watches.size > 0) return;
    this.#unseen.delete(held);
    if (this.#held.get(held.ground.key) === held) this.#held.delete(held.ground.key);
  }
}
