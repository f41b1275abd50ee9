import type { MetricSet, Sample } from '../../../shared/metrics/metric-set';
import type { Registry } from '../../engine/registry/registry';
import type { RequestMetrics, RequestSeries } from '../../engine/observability/metrics/request-metrics';

export interface DeprecatedApisOptions {
  readonly requests: RequestMetrics;
  readonly registry: () => Registry;
}

/** Shows which deprecated versions somebody has asked for, under kube-apiserver's name: 1 for each, for as long as the process lives. */
export function addDeprecatedApis(metrics: MetricSet, { requests, registry }: DeprecatedApisOptions): void {
  metrics.gauge({
    name: 'apiserver_requested_deprecated_apis',
    help: 'Deprecated APIs that were requested, with the release in which they are removed.',
    labels: ['group', 'version', 'resource', 'subresource', 'removed_release'],
    *read() {
      // Many series are requests for one resource.
      const told = new Set<string>();
      for (const series of requests.series()) {
        const sample = isAnswered(series) ? sampleOf(registry(), series) : undefined;
        if (sample === undefined) continue;
        const key = Object.values(sample[0]).join(' ');
        if (!told.has(key)) yield sample;
        told.add(key);
      }
    },
  });
}

/** Whoever is not let in is no user of an API. */
const TURNED_AWAY: ReadonlySet<number> = new Set([401, 403]);

function isAnswered({ byCode }: RequestSeries): boolean {
  return [...byCode.keys()].some((code) => !TURNED_AWAY.has(code));
}

function sampleOf(registry: Registry, { labels }: RequestSeries): Sample | undefined {
  const { group, version, resource, subresource } = labels;
  const endpoint = registry.endpoint(group, version, resource);
  if (endpoint?.deprecation === undefined) return undefined;
  return [{ group, version, resource, subresource, removed_release: endpoint.row.removed ?? '' }, 1];
}
