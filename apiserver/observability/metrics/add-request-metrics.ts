import type { Registry } from 'prom-client';
import type { LabelledHistogram } from '../../../shared/metrics/bucket-histogram';
import { addHistogram } from '../../../shared/metrics/bucket-histogram';
import { addCounter, addGauge } from './collected';
import type { RequestLabels, RequestMetrics, RequestSeries } from './request-metrics';

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

/** Shows what was counted of requests, under kube-apiserver's names. */
export function addRequestMetrics(registry: Registry, requests: RequestMetrics): void {
  addCounter(registry, {
    name: 'apiserver_request_total',
    help: 'Requests by verb, resource, scope and response code.',
    labels: [...LABELS, 'code'],
    *read() {
      for (const { labels, byCode } of requests.series()) {
        for (const [code, count] of byCode) yield [{ ...labels, code: String(code) }, count];
      }
    },
  });
  addHistogram(
    registry,
    {
      name: 'apiserver_request_duration_seconds',
      help: 'The latency of requests until their response is determined, watches excluded.',
      labels: LABELS,
    },
    () => timeSeries(requests),
  );
  addGauge(registry, {
    name: 'apiserver_current_inflight_requests',
    help: 'Requests in flight, watches excluded.',
    labels: ['request_kind'],
    *read() {
      for (const [kind, count] of Object.entries(requests.inFlight)) yield [{ request_kind: kind }, count];
    },
  });
  addGauge(registry, {
    name: 'apiserver_longrunning_gauge',
    help: 'Open watches.',
    labels: LABELS.filter((label) => label !== 'dry_run'),
    *read() {
      for (const series of requests.series()) {
        if (series.labels.verb === 'WATCH') yield [longRunningLabels(series), series.longRunning];
      }
    },
  });
}

function longRunningLabels({ labels }: RequestSeries): Readonly<Record<string, string>> {
  const { dry_run: _dryRun, ...others } = labels;
  return others;
}

function timeSeries(requests: RequestMetrics): LabelledHistogram<string>[] {
  return [...requests.series()]
    .filter(({ durations }) => durations.count > 0)
    .map(({ labels, durations }) => ({ labels: { ...labels }, durations }));
}
