import { exponentialBounds } from '../../../../shared/metrics/buckets';
import { DurationHistogram } from '../../../../shared/metrics/duration-histogram';

/** The labels of kube-apiserver. A type, as only such can be read as a record. */
export type ConversionLabels = {
  readonly crd_name: string;
  readonly from_version: string;
  readonly to_version: string;
  readonly succeeded: 'true' | 'false';
};

/** Those of kube-apiserver, in seconds. */
const BOUNDS_SECONDS = exponentialBounds(0.001, 2, 15);
/** Definitions come and go; what comes later is not told. */
const SERIES_MAX = 1_000;

/** How long reviews of conversion webhooks took, by what they converted. */
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

/** Of this process. */
export const CONVERSION_TIMES = new ConversionTimes();
