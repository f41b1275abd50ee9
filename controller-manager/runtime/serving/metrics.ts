import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { WorkQueue, WorkQueueOptions } from '../../../shared/concurrency/work-queue';
import { createWorkQueue } from '../../../shared/concurrency/work-queue';
import { addQueueMetrics } from './queue-metrics';

/** What the process tells of itself. */
export interface Metrics {
  readonly contentType: string;
  /** In the text form of Prometheus. */
  text(): Promise<string>;
  /** Makes a queue that is measured under the name of its controller. */
  queueOf(controller: string, options?: WorkQueueOptions): WorkQueue;
  /** Whether this process holds the lease now. */
  noteLeading(lease: string, isLeading: boolean): void;
}

export interface MetricsOptions {
  /** Also what the runtime tells: memory, processor time, delay of the event loop. For the real program. */
  readonly process: boolean;
}

export function createMetrics({ process }: MetricsOptions): Metrics {
  const registry = new Registry();
  const leading = new Gauge({
    name: 'leader_election_master_status',
    help: '1 if this process is the leader, 0 if it stands by.',
    labelNames: ['name'],
    registers: [registry],
  });
  const observerOf = addQueueMetrics(registry);
  if (process) collectDefaultMetrics({ register: registry });
  return {
    contentType: registry.contentType,
    text: async () => registry.metrics(),
    queueOf: (controller, options) => createWorkQueue({ ...options, observer: observerOf(controller) }),
    noteLeading: (lease, isLeading) => leading.set({ name: lease }, isLeading ? 1 : 0),
  };
}
