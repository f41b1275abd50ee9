import type { MetricSet } from '../../../shared/metrics/metric-set';
import type { TransformationCounts } from '../../engine/storage/decorators/encryption/transformation-counts';
import type { StoreTimes } from '../../engine/storage/measured-backend';

/** The state of the process's store. */
export interface StoreReport {
  readonly times: StoreTimes;
  /** Absent: encryption is not configured. */
  readonly transformations?: TransformationCounts;
  /** Bytes by endpoint; absent for a store without endpoints. */
  readonly databaseSizes?: ReadonlyMap<string, number>;
  /** Number of replacements of the store by another or an older one. Absent for a store that cannot be replaced. */
  readonly replacements?: () => number;
  /** Returns the problem of a reachable store; undefined if it is healthy. */
  readonly trouble?: () => string | undefined;
}

/** Adds the latency and size of the store, under kube-apiserver's names. These say etcd for every kind of store. */
export function addStoreMetrics(
  metrics: MetricSet,
  { times, databaseSizes, transformations, replacements = () => 0, trouble = () => undefined }: StoreReport,
): void {
  metrics.histogram({
    name: 'etcd_request_duration_seconds',
    help: 'The latency of requests to the store by operation and resource.',
    labels: ['operation', 'type'],
    *read() {
      for (const { labels, took } of times.series()) yield [labels, took];
    },
  });
  metrics.counter({
    name: 'apiserver_store_replacements_total',
    help: 'Replacements of the store by another, an empty or an older one, as this replica has seen them.',
    read: () => [[{}, replacements()]],
  });
  metrics.gauge({
    name: 'apiserver_store_full',
    help: '1 while the store has no room left: reads and deletions go on, other writes are refused.',
    read: () => [[{}, trouble() === undefined ? 0 : 1]],
  });
  addTransformations(metrics, transformations);
  if (databaseSizes === undefined) return;
  metrics.gauge({
    name: 'etcd_db_total_size_in_bytes',
    help: 'Bytes of the database file of each etcd member, those that are free in it included.',
    labels: ['endpoint'],
    *read() {
      for (const [endpoint, bytes] of databaseSizes) yield [{ endpoint }, bytes];
    },
  });
}

function addTransformations(metrics: MetricSet, counts: TransformationCounts | undefined): void {
  metrics.counter({
    name: 'apiserver_storage_transformation_operations_total',
    help: 'Values that were encrypted and decrypted: Unavailable says that a key management service did not answer, Unknown that no key fits.',
    labels: ['transformation_type', 'status'],
    *read() {
      for (const { transformation, status, count } of counts?.entries() ?? []) {
        yield [{ transformation_type: transformation, status }, count];
      }
    },
  });
}
