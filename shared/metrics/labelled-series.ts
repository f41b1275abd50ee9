import type { TakenDurations } from './duration-histogram';
import { DurationHistogram } from './duration-histogram';
import type { Labels } from './metric-set';
import type { Counted, Taken, Timed } from './taken';
import { takeDurations, takeTimes } from './taken';

/** Series by their labels. Names in labels come from users, so that the number of series is bounded; further ones are not counted. */
class LabelledSeries<Series> {
  readonly #series = new Map<string, Series>();
  readonly #max: number;
  readonly #create: (labels: Labels) => Series;

  constructor(max: number, create: (labels: Labels) => Series) {
    this.#max = max;
    this.#create = create;
  }

  /** Returns the series of these labels; undefined for a new one beyond the limit. */
  of(labels: Labels): Series | undefined {
    const key = Object.values(labels).join(' ');
    const known = this.#series.get(key);
    if (known !== undefined || this.#series.size >= this.#max) return known;
    const made = this.#create(labels);
    this.#series.set(key, made);
    return made;
  }

  values(): Iterable<Series> {
    return this.#series.values();
  }
}

export class LabelledCounts {
  readonly #series: LabelledSeries<Counted>;

  constructor(seriesMax: number) {
    this.#series = new LabelledSeries<Counted>(seriesMax, (labels) => ({ labels, times: 0 }));
  }

  count(labels: Labels, times = 1): void {
    const counted = this.#series.of(labels);
    if (counted !== undefined) counted.times += times;
  }

  values(): Iterable<Readonly<Counted>> {
    return this.#series.values();
  }

  /** Returns and resets the counts since the last call. */
  take(): Taken<number> {
    return takeTimes(this.#series.values());
  }

  /** Adds the counts of another thread. */
  add(taken: Taken<number>): void {
    for (const [labels, times] of taken) this.count(labels, times);
  }
}

export class LabelledDurations {
  readonly #series: LabelledSeries<Timed>;

  constructor(boundsSeconds: readonly number[], seriesMax: number) {
    this.#series = new LabelledSeries<Timed>(seriesMax, (labels) => ({
      labels,
      durations: new DurationHistogram(boundsSeconds),
    }));
  }

  observe(labels: Labels, ms: number): void {
    this.#series.of(labels)?.durations.observe(ms);
  }

  values(): Iterable<Timed> {
    return this.#series.values();
  }

  /** Returns and resets the durations since the last call. */
  take(): Taken<TakenDurations> {
    return takeDurations(this.#series.values());
  }

  /** Adds the durations of another thread. */
  add(taken: Taken<TakenDurations>): void {
    for (const [labels, durations] of taken) this.#series.of(labels)?.durations.add(durations);
  }
}
