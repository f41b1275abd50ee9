import type { Build } from '../../../shared/build';
import type { WorkQueue, WorkQueueOptions } from '../../../shared/concurrency/work-queue';
import { createWorkQueue } from '../../../shared/concurrency/work-queue';
import { addQueueMetrics, QueueTimes } from '../../../shared/concurrency/queue-times';
import { defined } from '../../../shared/defined';
import { addBuildInfo } from '../../../shared/metrics/build-info';
import type { MetricChoice } from '../../../shared/metrics/metric-choice';
import type { Labels } from '../../../shared/metrics/metric-set';
import { MetricSet } from '../../../shared/metrics/metric-set';
import { runtimeMetrics } from '../../../shared/metrics/runtime-metrics';
import type { RequestObserver } from '../../../shared/metrics/rest-client';
import { addRestClientMetrics, ClientRequests } from '../../../shared/metrics/rest-client';

/** The metrics of the process. */
export interface Metrics {
  readonly contentType: string;
  /** Returns the Prometheus text format. */
  exposition(): Promise<Buffer>;
  /** Creates a work queue that is measured under the name of its controller. */
  queueOf(controller: string, options?: WorkQueueOptions): WorkQueue;
  /** Records whether this process holds the lease. */
  noteLeading(lease: string, isLeading: boolean): void;
}

export interface MetricsOptions {
  /** Includes the runtime's metrics: memory, processor time, event-loop delay. For the real program. */
  readonly process: boolean;
  /** Absent: no build info. */
  readonly build?: Build;
  /** All by default. */
  readonly choice?: MetricChoice;
}

/** Metrics that also count the requests of clients. */
export interface ClientMetrics extends Metrics {
  /** For the metrics of one program. */
  readonly set: MetricSet;
  /** Returns a counter for the clients of the API server at this address. */
  observerOf(server: string): RequestObserver;
}

export function createMetrics({ process, build, choice }: MetricsOptions): ClientMetrics {
  const metrics = new MetricSet(defined({ choice }));
  if (build !== undefined) addBuildInfo(metrics, build);
  const leading = new Map<string, { readonly labels: Labels; readonly value: number }>();
  metrics.gauge({
    name: 'leader_election_master_status',
    help: '1 if this process is the leader, 0 if it stands by.',
    labels: ['name'],
    *read() {
      for (const { labels, value } of leading.values()) yield [labels, value];
    },
  });
  const queues = new QueueTimes();
  addQueueMetrics(metrics, queues);
  const requests = new ClientRequests();
  addRestClientMetrics(metrics, requests);
  if (process) metrics.addRuntime(runtimeMetrics());
  return {
    set: metrics,
    contentType: metrics.contentType,
    exposition: async () => metrics.exposition(),
    queueOf: (controller, options) =>
      createWorkQueue({ ...options, observer: queues.observerOf(controller) }),
    noteLeading: (name, isLeading) => {
      leading.set(name, { labels: { name }, value: isLeading ? 1 : 0 });
    },
    observerOf: (server) => requests.observerOf(server),
  };
}
