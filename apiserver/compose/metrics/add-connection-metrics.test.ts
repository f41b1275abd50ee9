import { MetricSet } from '../../../shared/metrics/metric-set';
import { newConnectionCounts } from '../../engine/server/connection-counts';
import { createRequestMemory } from '../../engine/server/held-bytes';
import { addConnectionMetrics } from './add-connection-metrics';

test('floods, slow readers and the memory of requests have samples', async () => {
  const metrics = new MetricSet();
  const counts = newConnectionCounts();
  const memory = createRequestMemory();
  addConnectionMetrics(metrics, { counts, memory });
  Object.assign(counts, {
    pipelined: 1,
    pipelineFloods: 2,
    http2Floods: 8,
    slowReaders: 3,
    handshakesRefused: 4,
    connectionsRefused: 9,
  });
  memory.bodies.add({ name: 'jane' }, 5);
  memory.answers.add({ name: 'jane' }, 6);
  memory.answers.refused = 7;
  const text = String(await metrics.exposition());
  for (const line of [
    'apiserver_pipelined_requests_total 1',
    'apiserver_pipeline_floods_total 2',
    'apiserver_http2_floods_total 8',
    'apiserver_slow_readers_total 3',
    'apiserver_tls_handshakes_rejected_total 4',
    'apiserver_connections_rejected_total 9',
    'apiserver_request_memory_bytes{kind="bodies"} 5',
    'apiserver_request_memory_bytes{kind="answers"} 6',
    'apiserver_request_memory_rejections_total{kind="bodies"} 0',
    'apiserver_request_memory_rejections_total{kind="answers"} 7',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
});
