import { exponentialBounds } from './buckets';
import { DurationHistogram } from './duration-histogram';
import type { Labels, MetricSet } from './metric-set';

/** Told of each request of a client: `code` is 0 where there was no answer. */
export type RequestObserver = (method: string, code: number, ms: number) => void;

/** Those of client-go. */
const BOUNDS_SECONDS = exponentialBounds(0.001, 2, 10);
/** Methods and codes, of which there are few; what is beyond is not counted. */
const SERIES_MAX = 500;

interface Counted {
  readonly labels: Labels;
  times: number;
}

/** Adds what clients of one server count, under the names by which client-go tells of its own. */
export function addRestClientMetrics(metrics: MetricSet, server: string): RequestObserver {
  const { host, origin } = new URL(server);
  // The form of v1.21, which has no names of objects in it.
  const url = `${origin}/%7Bprefix%7D`;
  const codes = new Map<string, Counted>();
  const latencies = new Map<string, { readonly labels: Labels; readonly took: DurationHistogram }>();
  metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by code, method and host; the code is <error> where there was no response.',
    labels: ['code', 'method', 'host'],
    *read() {
      for (const { labels, times } of codes.values()) yield [labels, times];
    },
  });
  metrics.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'The latency of requests to the API server by verb and URL; of a watch until its response begins.',
    labels: ['verb', 'url'],
    *read() {
      for (const { labels, took } of latencies.values()) yield [labels, took];
    },
  });
  return (method, answered, ms) => {
    const code = answered === 0 ? '<error>' : String(answered);
    const key = `${method} ${code}`;
    const counted = codes.get(key) ?? { labels: { code, method, host }, times: 0 };
    if (counted.times === 0 && codes.size >= SERIES_MAX) return;
    counted.times += 1;
    codes.set(key, counted);
    const latency = latencies.get(method) ?? {
      labels: { verb: method, url },
      took: new DurationHistogram(BOUNDS_SECONDS),
    };
    latency.took.observe(ms);
    latencies.set(method, latency);
  };
}
