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
