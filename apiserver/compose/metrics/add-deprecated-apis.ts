import type { MetricSet, Sample } from '../../../shared/metrics/metric-set';
import type { Registry } from '../../engine/registry/registry';
import type { RequestMetrics, RequestSeries } from '../../engine/observability/metrics/request-metrics';

export interface DeprecatedApisOptions {
  readonly requests: RequestMetrics;
  readonly registry: () => Registry;
}

/** Adds the requested deprecated APIs, under kube-apiserver's name. Each has the value 1 for the lifetime of the process. */
export function addDeprecatedApis(metrics: MetricSet, { requests, registry }: DeprecatedApisOptions): void {
  metrics.gauge({
    name: 'apiserver_requested_deprecated_apis',
    help: 'Deprecated APIs that were requested, with the release in which they are removed.',
    labels: ['group', 'version', 'resource', 'subresource', 'removed_release'],
    *read() {
      // One resource has many request series.
      const reported = new Set<string>();
      for (const series of requests.series()) {
        const sample = isAnswered(series) ? sampleOf(registry(), series) : undefined;
        if (sample === undefined) continue;
        const key = Object.values(sample[0]).join(' ');
        if (!reported.has(key)) yield sample;
        reported.add(key);
      }
    },
  });
}

/** Rejected clients do not count as users of an API. */
const REJECTED: ReadonlySet<number> = new Set([401, 403]);

function isAnswered({ byCode }: RequestSeries): boolean {
  return [...byCode.keys()].some((code) => !REJECTED.has(code));
}

function sampleOf(registry: Registry, { labels }: RequestSeries): Sample | undefined {
  const { group, version, resource, subresource } = labels;
  const endpoint = registry.endpoint(group, version, resource);
  if (endpoint?.deprecation === undefined) return undefined;
  return [{ group, version, resource, subresource, removed_release: endpoint.row.removed ?? '' }, 1];
}
