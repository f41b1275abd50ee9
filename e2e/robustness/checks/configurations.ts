/** One way in which what was asked so far may have happened. */
export interface Configuration {
  /** The index of the known state that the object is in, or was deleted in. */
  readonly at: number;
  readonly isThere: boolean;
  /** Of what is under way and has taken effect, by bits: deletions that were done, those that may have been, refusals. */
  readonly deletions: bigint;
  readonly optional: bigint;
  readonly refusals: bigint;
  /** How many deletions of unknown outcome have taken effect. */
  readonly unknown: number;
}

/**
 * Configurations of which none is better than another. One is better if whatever can follow the other can follow it too: the same
 * state and deletions, no refusal less explained, no deletion spent that the other can still use.
 */
export class Configurations {
  readonly #byState = new Map<string, Configuration[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  *[Symbol.iterator](): IterableIterator<Configuration> {
    for (const alike of this.#byState.values()) yield* alike;
  }

  /** False when one that is as good is there already. */
  add(added: Configuration): boolean {
    const key = `${String(added.at)} ${String(added.isThere)} ${String(added.deletions)}`;
    const alike = this.#byState.get(key) ?? [];
    if (alike.some((each) => isAsGood(each, added))) return false;
    const kept = alike.filter((each) => !isAsGood(added, each));
    this.#size += kept.length + 1 - alike.length;
    kept.push(added);
    this.#byState.set(key, kept);
    return true;
  }
}

function isAsGood(a: Configuration, b: Configuration): boolean {
  return a.unknown <= b.unknown && (a.optional & ~b.optional) === 0n && (b.refusals & ~a.refusals) === 0n;
}
