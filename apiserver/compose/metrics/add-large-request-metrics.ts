import type { MetricSet } from '../../../shared/metrics/metric-set';

/** Counts of the requests that run on a worker thread. */
export interface LargeRequestCounts {
  readonly begun: number;
  readonly refused: number;
  readonly threads: number;
  readonly lost: number;
}

const METRICS = [
  {
    name: 'apiserver_large_requests_total',
    help: 'Requests that were too large for the event loop that serves everybody, and were carried out by another thread.',
    count: 'begun',
  },
  {
    name: 'apiserver_large_requests_refused_total',
    help: 'Large requests that were refused with 429 because too many were waiting.',
    count: 'refused',
  },
  {
    name: 'apiserver_large_request_threads_total',
    help: 'Threads that were started for large requests; one that has nothing to do for five minutes is stopped.',
    count: 'threads',
  },
  {
    name: 'apiserver_large_request_threads_lost_total',
    help: 'Threads for large requests that were stopped because they did not answer.',
    count: 'lost',
  },
] as const satisfies readonly {
  readonly count: keyof LargeRequestCounts;
  readonly [field: string]: string;
}[];

/** Adds the number of requests that are too large for the event loop. */
export function addLargeRequestMetrics(metrics: MetricSet, counts: LargeRequestCounts): void {
  for (const { name, help, count } of METRICS) {
    metrics.counter({ name, help, read: () => [[{}, counts[count]]] });
  }
}
