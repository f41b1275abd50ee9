import type { MetricSet } from '../../../shared/metrics/metric-set';
import type { GraphTimes } from '../../kubernetes/auth/node/graph-times';
import { CONVERSION_TIMES } from '../../kubernetes/custom-resources/conversion/conversion-times';

/** Shows how long conversion webhooks took, and changes of the graph of nodes, under kube-apiserver's names. */
export function addDurationMetrics(metrics: MetricSet, graphTimes: GraphTimes): void {
  metrics.histogram({
    name: 'apiserver_crd_webhook_conversion_duration_seconds',
    help: 'The latency of reviews of conversion webhooks, by definition and versions.',
    labels: ['crd_name', 'from_version', 'to_version', 'succeeded'],
    *read() {
      for (const { labels, durations } of CONVERSION_TIMES.values()) yield [labels, durations];
    },
  });
  metrics.histogram({
    name: 'node_authorizer_graph_actions_duration_seconds',
    help: 'The latency of changes of the graph that the mode Node decides on, by operation.',
    labels: ['operation'],
    *read() {
      for (const [operation, durations] of graphTimes.read()) yield [{ operation }, durations];
    },
  });
}
