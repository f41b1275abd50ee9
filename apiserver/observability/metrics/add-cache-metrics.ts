import type { Registry } from 'prom-client';
import { parseGroupVersion } from '../../../shared/api/resources';
import type { CacheStats, ResourceStats } from '../../cache/stats';
import type { Sample } from './collected';
import { addCounter, addGauge } from './collected';
import { addHistogram } from '../../../shared/metrics/bucket-histogram';

export interface CacheMetricsSource {
  readonly stats: () => CacheStats;
  /** The kind of a cached resource by its name, for the metric that is counted by kind. */
  readonly kindOf: (resource: string) => string;
}

const PREFIX = 'apiserver_watch_cache';
const MS_PER_SECOND = 1_000;

/** Shows the state and the work of the watch cache. */
export function addCacheMetrics(registry: Registry, source: CacheMetricsSource): void {
  addTotals(registry, source);
  addGauges(registry, source);
  addResourceGauges(registry, source);
  addByResource(registry, source);
  addHistogram(
    registry,
    {
      name: 'apiserver_watch_delay_seconds',
      help: 'The way of a change by stage: to_cache is how long reads waited for the cache to be fresh enough, in_cache from arrival to applied, to_door from queued for watchers to handed over.',
      labels: ['stage'],
    },
    () => {
      const { toCache, inCache, toListener } = source.stats().delays;
      return [
        { labels: { stage: 'to_cache' }, durations: toCache },
        { labels: { stage: 'in_cache' }, durations: inCache },
        { labels: { stage: 'to_door' }, durations: toListener },
      ];
    },
  );
}

const TOTALS: readonly (readonly [name: string, help: string, of: (stats: CacheStats) => number])[] = [
  ['fills_total', 'Complete fills of the whole cache.', ({ fills }) => fills],
  [
    'rebuilds_total',
    'Times that a state could not be trusted and was read anew.',
    ({ rebuilds }) => rebuilds,
  ],
  ['filled_objects_total', 'Objects read by fills.', ({ filledObjects }) => filledObjects],
  ['events_received_total', 'Changes applied from the watch of the store.', ({ events }) => events],
  ['revisions_total', 'Revisions seen, those of foreign keys included.', ({ revisions }) => revisions],
  ['undecodable_total', 'Stored values that could not be decoded.', ({ undecodable }) => undecodable],
  [
    'feed_failures_total',
    'Times the watch of the store had to be resumed.',
    ({ feedFailures }) => feedFailures,
  ],
  ['watches_started_total', 'Watches begun.', ({ watchesStarted }) => watchesStarted],
  [
    'history_streams_total',
    'Watches that began with history from the store.',
    ({ historyStreams }) => historyStreams,
  ],
  [
    'read_index_calls_total',
    'Requests to the store for its newest revision.',
    ({ readIndexCalls }) => readIndexCalls,
  ],
  [
    'read_index_requests_total',
    'Reads that asked for the newest revision, and shared these requests.',
    ({ readIndexRequests }) => readIndexRequests,
  ],
  ['flushes_total', 'Times that queued frames were handed over.', ({ flushes }) => flushes],
];

function addTotals(registry: Registry, { stats }: CacheMetricsSource): void {
  for (const [name, help, of] of TOTALS) {
    addCounter(registry, { name: `${PREFIX}_${name}`, help, read: () => [[{}, of(stats())]] });
  }
  addCounter(registry, {
    name: `${PREFIX}_watches_ended_total`,
    help: 'Watches ended, by reason.',
    labels: ['reason'],
    read: () => Object.entries(stats().watchesEnded).map(([reason, count]): Sample => [{ reason }, count]),
  });
  addCounter(registry, {
    name: `${PREFIX}_checks_total`,
    help: 'Comparisons of a resource with the store, by outcome.',
    labels: ['outcome'],
    read: () => Object.entries(stats().checks).map(([outcome, count]): Sample => [{ outcome }, count]),
  });
}

const GAUGES: readonly (readonly [name: string, help: string, of: (stats: CacheStats) => number])[] = [
  ['revision', 'The newest revision that is fully applied.', ({ revision }) => revision],
  ['derived_bytes', 'Bytes of frames kept for further readers.', ({ derivedBytes }) => derivedBytes],
  ['snapshot_bytes', 'Bytes that only retained snapshots still need.', ({ snapshotBytes }) => snapshotBytes],
  [
    'coalesce_delay_seconds',
    'How long the last flush was held back.',
    ({ coalesceDelayMs }) => coalesceDelayMs / MS_PER_SECOND,
  ],
];

function addGauges(registry: Registry, { stats }: CacheMetricsSource): void {
  for (const [name, help, of] of GAUGES) {
    addGauge(registry, { name: `${PREFIX}_${name}`, help, read: () => [[{}, of(stats())]] });
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
  ['ring_bytes', 'Bytes of past states that only recent events need.', ({ ringBytes }) => ringBytes],
  [
    'oldest_revision',
    'The oldest revision from which memory serves a watch.',
    ({ oldestWatchable }) => oldestWatchable,
  ],
  ['watchers', 'Open watches.', ({ watchers }) => watchers],
  ['ready', '1 when the resource can be read from the cache.', ({ isReady }) => (isReady ? 1 : 0)],
];

function addResourceGauges(registry: Registry, { stats }: CacheMetricsSource): void {
  for (const [name, help, of] of RESOURCE_GAUGES) {
    addGauge(registry, {
      name: `${PREFIX}_${name}`,
      help,
      labels: ['resource'],
      read: () => stats().resources.map((each): Sample => [{ resource: each.resource }, of(each)]),
    });
  }
}

function addByResource(registry: Registry, { stats, kindOf }: CacheMetricsSource): void {
  addCounter(registry, {
    name: 'apiserver_watch_events_total',
    help: 'Events sent to watches, bookmarks included, by the kind and version that was asked for.',
    labels: ['group', 'version', 'kind'],
    read: () =>
      stats().resources.flatMap(({ resource, sent }) =>
        sent.map(({ apiVersion, frames }): Sample => {
          return [{ ...parseGroupVersion(apiVersion), kind: kindOf(resource) }, frames];
        }),
      ),
  });
  addCounter(registry, {
    name: 'apiserver_terminated_watchers_total',
    help: 'Watches ended because their client did not take what it asked for.',
    labels: ['resource'],
    read: () =>
      stats()
        .resources.filter(({ slowEnded }) => slowEnded > 0)
        .map(({ resource, slowEnded }): Sample => [{ resource }, slowEnded]),
  });
}
