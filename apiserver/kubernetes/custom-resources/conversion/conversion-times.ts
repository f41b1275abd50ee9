import { exponentialBounds } from '../../../../shared/metrics/buckets';
import { DurationHistogram } from '../../../../shared/metrics/duration-histogram';

/** The labels of kube-apiserver's metric. It is a type alias because an interface is not assignable to a record. */
export type ConversionLabels = {
  readonly crd_name: string;
  readonly from_version: string;
  readonly to_version: string;
  readonly succeeded: 'true' | 'false';
};

/** Upstream's histogram buckets, in seconds. */
const BOUNDS_SECONDS = exponentialBounds(0.001, 2, 15);
/** Limits the cardinality, because definitions are created and deleted. Later series are dropped. */
const SERIES_MAX = 1_000;

/** Durations of conversion webhook reviews, by definition and versions. */
class ConversionTimes {
  readonly #series = new Map<string, readonly [ConversionLabels, DurationHistogram]>();

  observe(labels: ConversionLabels, ms: number): void {
    const key = Object.values(labels).join(' ');
    const known = this.#series.get(key);
    if (known !== undefined) {
      known[1].observe(ms);
      return;
    }
    if (this.#series.size >= SERIES_MAX) return;
    const durations = new DurationHistogram(BOUNDS_SECONDS);
    durations.observe(ms);
    this.#series.set(key, [labels, durations]);
  }

  read(): Iterable<readonly [ConversionLabels, DurationHistogram]> {
    return this.#series.values();
  }
}

/** The process-wide instance. */
export const CONVERSION_TIMES = new ConversionTimes();
