import type { MetricSet } from '../../../shared/metrics/metric-set';
import type { AvailabilityCounts } from '../../kubernetes/aggregation/availability';

/** Adds the unavailable extension API servers. */
export function addAggregatorMetrics(metrics: MetricSet, counts: AvailabilityCounts): void {
  metrics.gauge({
    name: 'aggregator_unavailable_apiservice',
    help: 'APIServices that are unavailable (1) or available (0), by name.',
    labels: ['name'],
    *read() {
      for (const [name, isUnavailable] of counts.unavailable) yield [{ name }, isUnavailable ? 1 : 0];
    },
  });
  metrics.counter({
    name: 'aggregator_unavailable_apiservice_total',
    help: 'How often APIServices became unavailable, by name and reason.',
    labels: ['name', 'reason'],
    *read() {
      for (const { name, reason, count } of counts.total.values()) yield [{ name, reason }, count];
    },
  });
}
