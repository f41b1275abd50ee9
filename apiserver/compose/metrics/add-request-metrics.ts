import type { MetricSet } from '../../../shared/metrics/metric-set';
import type {
  RequestLabels,
  RequestMetrics,
  RequestSeries,
} from '../../engine/observability/metrics/request-metrics';

const LABELS = [
  'verb',
  'dry_run',
  'group',
  'version',
  'resource',
  'subresource',
  'scope',
  'component',
] as const satisfies readonly (keyof RequestLabels)[];
const PLACE = LABELS.filter((label) => label !== 'dry_run' && label !== 'component');
const WITHOUT_DRY_RUN = LABELS.filter((label) => label !== 'dry_run');

/** Adds the counts of requests, under kube-apiserver's names. */
export function addRequestMetrics(metrics: MetricSet, requests: RequestMetrics): void {
  metrics.histogram({
    name: 'apiserver_request_filter_duration_seconds',
    help: 'The latency of single stages of requests that went on from them.',
    labels: ['filter'],
    *read() {
      for (const [filter, durations] of requests.filters.read()) yield [{ filter }, durations];
    },
  });
  metrics.counter({
    name: 'apiserver_request_total',
    help: 'Requests by verb, resource, scope and response code; a watch counts when it ends.',
    labels: [...LABELS, 'code'],
    *read() {
      for (const { byCode } of requests.series())
        for (const { labels, times } of byCode.values()) yield [labels, times];
    },
  });
  addLatencies(metrics, requests);
  metrics.histogram({
    name: 'apiserver_response_sizes',
    help: 'Bytes of the responses to reads.',
    labels: WITHOUT_DRY_RUN,
    *read() {
      for (const { labels, sizes } of requests.series()) if (sizes !== undefined) yield [labels, sizes];
    },
  });
  metrics.counter({
    name: 'apiserver_request_terminations_total',
    help: 'Requests that were ended in self-defense: their time was over, or there was too much of something to do.',
    labels: [...WITHOUT_DRY_RUN, 'code'],
    *read() {
      for (const { labels, times } of requests.terminated()) yield [labels, times];
    },
  });
  metrics.counter({
    name: 'apiserver_request_aborts_total',
    help: 'Requests whose answer was given up by the server in the middle: their time was over, or their client did not read it.',
    labels: PLACE,
    *read() {
      for (const { labels, aborts } of requests.series()) {
        if (aborts > 0 && labels.dry_run === '') yield [labels, aborts];
      }
    },
  });
  metrics.gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Requests in flight, watches excluded.',
    labels: ['request_kind'],
    *read() {
      for (const [kind, count] of Object.entries(requests.inFlight)) yield [{ request_kind: kind }, count];
    },
  });
  metrics.gauge({
    name: 'apiserver_longrunning_gauge',
    help: 'Open watches, and connections through this server to others.',
    labels: WITHOUT_DRY_RUN,
    *read() {
      for (const { labels, longRunning } of requests.series())
        if (labels.verb === 'WATCH' || labels.verb === 'CONNECT') yield [labels, longRunning];
    },
  });
}

function addLatencies(metrics: MetricSet, requests: RequestMetrics): void {
  metrics.histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'The latency of requests until their response is determined; that of a watch is its whole duration.',
    labels: LABELS,
    *read() {
      for (const series of requests.series()) if (hasEnded(series)) yield [series.labels, series.durations];
    },
  });
  metrics.histogram({
    name: 'apiserver_request_sli_duration_seconds',
    help: 'The latency of requests that service level indicators are made of: watches excluded, calls of admission webhooks included.',
    labels: WITHOUT_DRY_RUN,
    *read() {
      for (const series of requests.series()) {
        // Dry runs have separate series, whose labels may equal those of other requests.
        const { verb, dry_run: dryRun } = series.labels;
        if (verb !== 'WATCH' && dryRun === '' && hasEnded(series)) yield [series.labels, series.durations];
      }
    },
  });
}

function hasEnded({ byCode }: RequestSeries): boolean {
  return byCode.size > 0;
}
