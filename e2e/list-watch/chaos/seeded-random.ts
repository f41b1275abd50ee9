/** Pseudo-random numbers from a seed (mulberry32). */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** An integer in [0, below). */
  below(below: number): number;
  /** One of the rows, by weight. */
  weighted<T>(rows: readonly (readonly [weight: number, value: T])[]): T;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    below: (below) => Math.floor(next() * below),
    weighted(rows) {
      let rest = next() * rows.reduce((sum, [weight]) => sum + weight, 0);
      const found = rows.find(([weight]) => (rest -= weight) < 0) ?? rows.at(-1);
      if (found === undefined) throw new RangeError('there is nothing to choose from');
      return found[1];
    },
  };
}
