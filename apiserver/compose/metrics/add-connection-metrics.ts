import type { MetricSet } from '../../../shared/metrics/metric-set';
import type { ConnectionCounts } from '../../engine/server/connection-counts';
import type { RequestMemory } from '../../engine/server/held-bytes';

export interface ConnectionMetricsSource {
  readonly counts: Readonly<ConnectionCounts>;
  readonly memory: RequestMemory;
}

/** Adds the abuse of client connections, and the memory of requests. */
export function addConnectionMetrics(metrics: MetricSet, { counts, memory }: ConnectionMetricsSource): void {
  for (const { name, help, count } of COUNTERS) {
    metrics.counter({ name, help, read: () => [[{}, counts[count]]] });
  }
  metrics.gauge({
    name: 'apiserver_request_memory_bytes',
    help: 'Bytes in memory for requests in flight: bodies, and answers that clients have not read yet.',
    labels: ['kind'],
    *read() {
      for (const [kind, held] of Object.entries(memory)) yield [{ kind }, held.total];
    },
  });
  metrics.counter({
    name: 'apiserver_request_memory_rejections_total',
    help: 'Requests rejected with 429 because their user, or all users together, had too many bytes in memory.',
    labels: ['kind'],
    *read() {
      for (const [kind, held] of Object.entries(memory)) yield [{ kind }, held.refused];
    },
  });
}

const COUNTERS = [
  {
    name: 'apiserver_pipelined_requests_total',
    help: 'HTTP/1.1 requests that waited for the response to an earlier request on their connection.',
    count: 'pipelined',
  },
  {
    name: 'apiserver_pipeline_floods_total',
    help: 'Connections closed because too many pipelined requests waited on them.',
    count: 'pipelineFloods',
  },
  {
    name: 'apiserver_http2_floods_total',
    help: 'HTTP/2 connections closed because of too many control frames or cancelled requests.',
    count: 'http2Floods',
  },
  {
    name: 'apiserver_slow_readers_total',
    help: 'Connections closed because their client did not read a response.',
    count: 'slowReaders',
  },
  {
    name: 'apiserver_tls_handshake_errors_total',
    help: 'TLS handshakes that failed.',
    count: 'handshakesFailed',
  },
  {
    name: 'apiserver_tls_handshakes_rejected_total',
    help: 'Connections closed before their TLS handshake because of the rate limit of their address.',
    count: 'handshakesRefused',
  },
  {
    name: 'apiserver_connections_rejected_total',
    help: 'Connections closed because too many were open, of their address or in all.',
    count: 'connectionsRefused',
  },
] as const satisfies readonly { readonly count: keyof ConnectionCounts; readonly [field: string]: string }[];
