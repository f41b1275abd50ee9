/** One possible execution of the operations invoked so far. */
export interface Configuration {
  /** The index of the known state of the object, or of the state in which it was deleted. */
  readonly at: number;
  readonly isThere: boolean;
  /** Bits of the pending operations that have taken effect: acknowledged deletions, possible deletions, refusals. */
  readonly deletions: bigint;
  readonly optional: bigint;
  readonly refusals: bigint;
  /** The number of deletions with unknown outcome that have taken effect. */
  readonly unknown: number;
}

/**
 * Configurations without dominated ones. One dominates another if every continuation of the other is also possible for it: the same
 * state and deletions, at least the same refusals explained, and no additional deletion used.
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

  /** Returns false if an equal or dominating configuration is already present. */
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
