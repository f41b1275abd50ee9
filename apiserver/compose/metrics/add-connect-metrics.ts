import type { MetricSet } from '../../../shared/metrics/metric-set';
import type { ConnectCounts } from '../../engine/proxy/connect-counts';

/** Adds the proxied connections to other servers. */
export function addConnectMetrics(metrics: MetricSet, counts: Readonly<ConnectCounts>): void {
  metrics.gauge({
    name: 'apiserver_backend_connections',
    help: 'Open connections to node agents, pods, Services and aggregated API servers on behalf of clients.',
    labels: ['purpose'],
    *read() {
      for (const [purpose, open] of counts.open) yield [{ purpose }, open];
    },
  });
  metrics.counter({
    name: 'apiserver_backend_connections_total',
    help: 'Connections opened to node agents, pods, Services and aggregated API servers on behalf of clients.',
    labels: ['purpose'],
    *read() {
      for (const [purpose, opened] of counts.opened) yield [{ purpose }, opened];
    },
  });
  metrics.counter({
    name: 'apiserver_backend_connection_rejections_total',
    help: 'Requests rejected with 429 because too many connections to other servers were open.',
    read: () => [[{}, counts.refused]],
  });
}
