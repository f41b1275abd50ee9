import type { Bucketed } from '../../../shared/metrics/buckets';
import type { MetricSet, Sample } from '../../../shared/metrics/metric-set';
import { parseGroupVersion } from '../../../shared/api/resources';
import type { CacheStats, ResourceStats } from '../../engine/watch-cache/stats';

export interface CacheMetricsSource {
  readonly stats: () => CacheStats;
  /** Maps the name of a cached resource to its kind, for the metric with a kind label. */
  readonly kindOf: (resource: string) => string;
}

const PREFIX = 'apiserver_watch_cache';
const MS_PER_SECOND = 1_000;

/** Adds the state and activity of the watch cache. */
export function addCacheMetrics(metrics: MetricSet, source: CacheMetricsSource): void {
  addTotals(metrics, source);
  addGauges(metrics, source);
  addResourceGauges(metrics, source);
  addStoredObjects(metrics, source);
  addByResource(metrics, source);
  metrics.histogram({
    name: 'apiserver_watch_delay_seconds',
    help: 'The propagation latency of a change by stage: to_cache is how long reads waited for the watch cache to be fresh enough, in_cache is from the arrival of an event until it is applied, to_door is from queued for a watcher until written to its connection.',
    labels: ['stage'],
    read: () => {
      const { toCache, inCache, toListener } = source.stats().delays;
      return [
        [{ stage: 'to_cache' }, toCache],
        [{ stage: 'in_cache' }, inCache],
        [{ stage: 'to_door' }, toListener],
      ];
    },
  });
}

const TOTALS: readonly (readonly [name: string, help: string, of: (stats: CacheStats) => number])[] = [
  ['fills_total', 'Complete initial lists of the watch cache from the store.', ({ fills }) => fills],
  [
    'rebuilds_total',
    'Rebuilds of the watch cache, or of the cache of one resource, because its state could not be trusted.',
    ({ rebuilds }) => rebuilds,
  ],
  [
    'filled_objects_total',
    'Objects read from the store by initial lists.',
    ({ filledObjects }) => filledObjects,
  ],
  [
    'events_received_total',
    'Events received from the watch of the store and applied.',
    ({ events }) => events,
  ],
  ['revisions_total', 'Store revisions seen, those of foreign keys included.', ({ revisions }) => revisions],
  [
    'undecodable_total',
    'Stored objects that could not be decoded and were skipped.',
    ({ undecodable }) => undecodable,
  ],
  [
    'feed_failures_total',
    'Failures of the watch of the store that were retried.',
    ({ feedFailures }) => feedFailures,
  ],
  ['watches_started_total', 'Watches started.', ({ watchesStarted }) => watchesStarted],
  [
    'history_streams_total',
    'Watches whose past events had to be read from the store.',
    ({ historyStreams }) => historyStreams,
  ],
  [
    'read_index_calls_total',
    'Requests to the store for its current revision (read index).',
    ({ readIndexCalls }) => readIndexCalls,
  ],
  [
    'read_index_requests_total',
    'Consistent reads that needed the current revision, and shared these requests.',
    ({ readIndexRequests }) => readIndexRequests,
  ],
  ['flushes_total', 'Flushes of queued events to connections.', ({ flushes }) => flushes],
];

function addTotals(metrics: MetricSet, { stats }: CacheMetricsSource): void {
  for (const [name, help, of] of TOTALS) {
    metrics.counter({ name: `${PREFIX}_${name}`, help, read: () => [[{}, of(stats())]] });
  }
  metrics.counter({
    name: `${PREFIX}_watches_ended_total`,
    help: 'Watches ended, by reason.',
    labels: ['reason'],
    read: () => Object.entries(stats().watchesEnded).map(([reason, count]): Sample => [{ reason }, count]),
  });
  metrics.counter({
    name: `${PREFIX}_checks_total`,
    help: 'Consistency checks of the cache of a resource with the store, by outcome.',
    labels: ['outcome'],
    read: () => Object.entries(stats().checks).map(([outcome, count]): Sample => [{ outcome }, count]),
  });
}

const GAUGES: readonly (readonly [name: string, help: string, of: (stats: CacheStats) => number])[] = [
  [
    'revision',
    'The newest store revision that is fully applied to the watch cache.',
    ({ revision }) => revision,
  ],
  ['derived_bytes', 'Bytes of cached encodings of objects and events.', ({ derivedBytes }) => derivedBytes],
  ['watch_queue_bytes', 'Bytes that wait in the queues of watchers.', ({ queuedBytes }) => queuedBytes],
  ['snapshot_bytes', 'Bytes that are retained for snapshots only.', ({ snapshotBytes }) => snapshotBytes],
  [
    'coalesce_delay_seconds',
    'How long the last flush was delayed to coalesce events.',
    ({ coalesceDelayMs }) => coalesceDelayMs / MS_PER_SECOND,
  ],
];

function addGauges(metrics: MetricSet, { stats }: CacheMetricsSource): void {
  for (const [name, help, of] of GAUGES) {
    metrics.gauge({ name: `${PREFIX}_${name}`, help, read: () => [[{}, of(stats())]] });
  }
}

const RESOURCE_GAUGES: readonly (readonly [
  name: string,
  help: string,
  of: (each: ResourceStats) => number,
])[] = [
  ['objects', 'Objects cached.', ({ objects }) => objects],
  ['object_bytes', 'Bytes of the cached objects.', ({ objectBytes }) => objectBytes],
  ['slab_bytes', 'Bytes allocated for objects and past states.', ({ slabBytes }) => slabBytes],
  ['ring_events', 'Recent events kept for watches that resume.', ({ ringEvents }) => ringEvents],
  [
    'ring_bytes',
    'Bytes of past object states that are retained for recent events only.',
    ({ ringBytes }) => ringBytes,
  ],
  [
    'oldest_revision',
    'The oldest revision from which a watch can be served from memory.',
    ({ oldestWatchable }) => oldestWatchable,
  ],
  ['watchers', 'Open watches.', ({ watchers }) => watchers],
  ['ready', '1 if the resource can be read from the watch cache.', ({ isReady }) => (isReady ? 1 : 0)],
];

function addResourceGauges(metrics: MetricSet, { stats }: CacheMetricsSource): void {
  for (const [name, help, of] of RESOURCE_GAUGES) {
    metrics.gauge({
      name: `${PREFIX}_${name}`,
      help,
      labels: ['resource'],
      read: () => stats().resources.map((each): Sample => [{ resource: each.resource }, of(each)]),
    });
  }
}

/** Counts stored objects as kube-apiserver does; the second name is for older dashboards. */
function addStoredObjects(metrics: MetricSet, { stats }: CacheMetricsSource): void {
  for (const name of ['apiserver_storage_objects', 'etcd_object_counts']) {
    metrics.gauge({
      name,
      help: 'Stored objects by resource.',
      labels: ['resource'],
      read: () => stats().resources.map(({ resource, objects }): Sample => [{ resource }, objects]),
    });
  }
}

function addByResource(metrics: MetricSet, { stats, kindOf }: CacheMetricsSource): void {
  metrics.counter({
    name: 'apiserver_watch_events_total',
    help: 'Events sent to watchers, bookmarks included, by the requested group, version and kind.',
    labels: ['group', 'version', 'kind'],
    read: () =>
      stats().resources.flatMap(({ resource, sent }) =>
        sent.map(({ apiVersion, frames }): Sample => {
          return [{ ...parseGroupVersion(apiVersion), kind: kindOf(resource) }, frames];
        }),
      ),
  });
  metrics.histogram({
    name: 'apiserver_watch_events_sizes',
    help: 'Bytes of the events sent to watchers, by the requested group, version and kind.',
    labels: ['group', 'version', 'kind'],
    read: () =>
      stats().resources.flatMap(({ resource, sent }) =>
        sent.map(({ apiVersion, sizes }): Sample<Bucketed> => {
          return [{ ...parseGroupVersion(apiVersion), kind: kindOf(resource) }, sizes];
        }),
      ),
  });
  metrics.gauge({
    name: 'apiserver_registered_watchers',
    help: 'Open watches by the requested group, version and kind.',
    labels: ['group', 'version', 'kind'],
    read: () =>
      stats().resources.flatMap(({ resource, sent }) =>
        sent.map(({ apiVersion, watchers }): Sample => {
          return [{ ...parseGroupVersion(apiVersion), kind: kindOf(resource) }, watchers];
        }),
      ),
  });
  metrics.counter({
    name: 'apiserver_init_events_total',
    help: 'Events sent to watchers before they were live: the state when they began, or what they had missed.',
    labels: ['resource'],
    read: () =>
      stats()
        .resources.filter(({ sent }) => sent.length > 0)
        .map(({ resource, sent }): Sample => {
          return [{ resource }, sent.reduce((sum, { initial }) => sum + initial, 0)];
        }),
  });
  metrics.counter({
    name: 'apiserver_terminated_watchers_total',
    help: 'Slow watchers ended: their client did not read its events.',
    labels: ['resource'],
    read: () =>
      stats()
        .resources.filter(({ slowEnded }) => slowEnded > 0)
        .map(({ resource, slowEnded }): Sample => [{ resource }, slowEnded]),
  });
}
