import type { DurationHistogram, TakenDurations } from './duration-histogram';
import type { Labels } from './metric-set';

/** The counts of another thread, as data to add to this one's: a value for each set of labels. */
export type Taken<T> = readonly (readonly [labels: Labels, value: T])[];

export interface Timed {
  readonly labels: Labels;
  readonly durations: DurationHistogram;
}

export interface Counted {
  readonly labels: Labels;
  times: number;
}

/** Returns and resets the counts of the series. */
export function takeDurations(series: Iterable<Timed>): Taken<TakenDurations> {
  return [...series].flatMap(({ labels, durations }) => {
    const taken = durations.take();
    return taken === undefined ? [] : [[labels, taken] as const];
  });
}

/** Returns and resets the counts of the series. */
export function takeTimes(series: Iterable<Counted>): Taken<number> {
  return [...series].flatMap((counted) => {
    const { labels, times } = counted;
    counted.times = 0;
    return times === 0 ? [] : [[labels, times] as const];
  });
}

/** A counter with labels. Each set of values is one series; a new one beyond the limit is not counted. */
export class CountedSeries {
  readonly #series = new Map<string, Counted>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  count(labels: Labels, more = 1): void {
    const key = Object.values(labels).join(' ');
    const known = this.#series.get(key);
    if (known !== undefined) known.times += more;
    else if (this.#series.size < this.#max) this.#series.set(key, { labels, times: more });
  }

  *read(): Iterable<readonly [Labels, number]> {
    for (const { labels, times } of this.#series.values()) yield [labels, times];
  }

  /** Returns and resets the counts since the last call. */
  take(): Taken<number> {
    return takeTimes(this.#series.values());
  }

  add(taken: Taken<number>): void {
    for (const [labels, times] of taken) this.count(labels, times);
  }
}
