import type { Pod } from '../../shared/api/types/core-v1';
import { WORKLOAD_ANNOTATION } from '../../shared/workload-names';

/** The first and the last index of a range. */
type Interval = readonly [first: number, last: number];

/**
 * A set of completion indexes as ranges in order. Its text is that of `status.completedIndexes`: `1,3-5,7`. Its size does not depend on
 * the number of indexes.
 */
export class IndexSet {
  static readonly EMPTY = new IndexSet([]);
  readonly #intervals: readonly Interval[];
  /** The number of indexes. */
  readonly size: number;

  private constructor(intervals: readonly Interval[]) {
    this.#intervals = intervals;
    this.size = intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  }

  /** Returns the set of these indexes. */
  static of(indexes: Iterable<number>): IndexSet {
    return new IndexSet(merged([...indexes].map((index) => [index, index])));
  }

  /** Parses the text of a status or a policy; indexes from `completions` on and broken parts are left out. */
  static parse(text: string, completions: number): IndexSet {
    const intervals = text.split(',').flatMap((part): Interval[] => {
      const [, from, to] = /^(\d+)(?:-(\d+))?$/u.exec(part) ?? [];
      const first = Number(from);
      const last = Math.min(Number(to ?? from), completions - 1);
      return from === undefined || first > last ? [] : [[first, last]];
    });
    return new IndexSet(merged(intervals));
  }

  with(other: IndexSet): IndexSet {
    return new IndexSet(merged([...this.#intervals, ...other.#intervals]));
  }

  has(index: number): boolean {
    let [low, high] = [0, this.#intervals.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const [first, last] = this.#intervals[middle] ?? [index, index];
      if (first <= index && index <= last) return true;
      if (index < first) high = middle;
      else low = middle + 1;
    }
    return false;
  }

  /** Returns how many indexes are in both sets. */
  overlap(other: IndexSet): number {
    return this.size + other.size - this.with(other).size;
  }

  /** Returns up to `count` indexes below `completions` that are not in the set, the lowest first. */
  missing(count: number, completions: number): readonly number[] {
    const found: number[] = [];
    let candidate = 0;
    for (const [first, last] of [...this.#intervals, [completions, completions] as const]) {
      for (; candidate < Math.min(first, completions) && found.length < count; candidate += 1)
        found.push(candidate);
      candidate = Math.max(candidate, last + 1);
    }
    return found;
  }

  toString(): string {
    return this.#intervals
      .map(([first, last]) => {
        if (first === last) return String(first);
        return `${String(first)}${last === first + 1 ? ',' : '-'}${String(last)}`;
      })
      .join(',');
  }
}

function merged(intervals: readonly Interval[]): readonly Interval[] {
  const result: Interval[] = [];
  for (const [first, last] of [...intervals].sort(([a], [b]) => a - b)) {
    const previous = result.at(-1);
    if (previous === undefined || first > previous[1] + 1) result.push([first, last]);
    else result[result.length - 1] = [previous[0], Math.max(previous[1], last)];
  }
  return result;
}

/** Returns the completion index of a pod; undefined if it has none. */
export function completionIndexOf({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[WORKLOAD_ANNOTATION.completionIndex] ?? '';
  return /^\d+$/u.test(text) ? Number(text) : undefined;
}

/** Returns the indexes of the pods. */
export function indexesOf(pods: readonly Pod[]): IndexSet {
  return IndexSet.of(pods.flatMap((pod) => completionIndexOf(pod) ?? []));
}
