/** Counts by upper bound, as a histogram of `/metrics` shows them. */
export interface Bucketed {
  /** Ascending, in the unit of the metric. */
  readonly bounds: readonly number[];
  /** Count per bucket, not cumulative; the last one is above all bounds. */
  readonly counts: ArrayLike<number>;
  /** Sum of all observations, in the unit of the metric. */
  readonly sum: number;
}

/** Counts values of any unit: bytes, mostly. */
export class ValueHistogram implements Bucketed {
  readonly bounds: readonly number[];
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds } = this;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
    this.counts[at] = (this.counts[at] ?? 0) + 1;
    this.sum += value;
  }
}

/** So many bounds, each `factor` times the one before. */
export function exponentialBounds(first: number, factor: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_each, at) => Number((first * factor ** at).toPrecision(12)));
}
