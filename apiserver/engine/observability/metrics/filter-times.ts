import { performance } from 'node:perf_hooks';
import { DurationHistogram } from '../../../../shared/metrics/duration-histogram';
import type { Exchange, Stage } from '../../request/exchange';

/** The stages that kube-apiserver times, by its names for them. */
export const FILTERS = [
  'authentication',
  'audit',
  'impersonation',
  'priorityandfairness',
  'authorization',
] as const;
export type Filter = (typeof FILTERS)[number];

/** Those of kube-apiserver. */
const BOUNDS_SECONDS: readonly number[] = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5];

/** How long requests were in each stage before they went on; those that it turned away do not count. */
export class FilterTimes {
  readonly #byFilter = new Map(FILTERS.map((name) => [name, new DurationHistogram(BOUNDS_SECONDS)]));

  /** The stage with the rest of the pipeline behind it. Without a promise or a function more than it has anyway. */
  timed(
    filter: Filter,
    stage: Stage,
    next: (exchange: Exchange) => Promise<void>,
  ): (exchange: Exchange) => Promise<void> {
    const durations = this.#byFilter.get(filter);
    if (durations === undefined) throw new Error(`${filter} is not timed`);
    return (exchange) => {
      const startedAt = performance.now();
      return stage(exchange, () => {
        durations.observe(performance.now() - startedAt);
        return next(exchange);
      });
    };
  }

  /** Those that there were. */
  *read(): IterableIterator<readonly [Filter, DurationHistogram]> {
    for (const row of this.#byFilter) if (row[1].count > 0) yield row;
  }
}
