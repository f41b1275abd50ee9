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

/** What the process tells of itself. */
export interface Metrics {
  readonly contentType: string;
  /** In the text form of Prometheus. */
  exposition(): Promise<Buffer>;
  /** Makes a queue that is measured under the name of its controller. */
  queueOf(controller: string, options?: WorkQueueOptions): WorkQueue;
  /** Whether this process holds the lease now. */
  noteLeading(lease: string, isLeading: boolean): void;
}

export interface MetricsOptions {
  /** Also what the runtime tells: memory, processor time, delay of the event loop. For the real program. */
  readonly process: boolean;
  /** Absent: no build is told. */
  readonly build?: Build;
  /** By default all. */
  readonly choice?: MetricChoice;
}

/** With what counts the requests of the clients, for a program that has some. */
export interface ClientMetrics extends Metrics {
  /** Counts for the clients of the API server at this address. */
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
