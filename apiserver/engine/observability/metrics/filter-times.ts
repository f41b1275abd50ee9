import { performance } from 'node:perf_hooks';
import { DurationHistogram } from '../../../../shared/metrics/duration-histogram';
import type { Exchange, Stage } from '../../request/exchange';

/** The stages that kube-apiserver measures, by its names. */
export const FILTERS = [
  'authentication',
  'audit',
  'impersonation',
  'priorityandfairness',
  'authorization',
] as const;
export type Filter = (typeof FILTERS)[number];

/** The bounds of kube-apiserver. */
const BOUNDS_SECONDS: readonly number[] = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5];

/** Measures how long requests are in each stage before the next one; requests that the stage refused are not counted. */
export class FilterTimes {
  readonly #byFilter = new Map(FILTERS.map((name) => [name, new DurationHistogram(BOUNDS_SECONDS)]));

  /** Composes a stage with the rest of the pipeline and measures it. It adds no promise and no function call. */
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

  /** Returns the stages with at least one request. */
  *read(): IterableIterator<readonly [Filter, DurationHistogram]> {
    for (const row of this.#byFilter) if (row[1].count > 0) yield row;
  }
}
