import { GROUP } from '../../../shared/names';
import { ClientGoneError } from '../../engine/request/initial-values';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { StorageError } from '../../engine/storage/backend';
import { FaultyMemoryBackend } from '../../engine/storage/testing/faulty-memory-backend';

const CMS = '/api/v1/namespaces/default/configmaps';

let api: InProcessApi;
beforeEach(async () => {
  api = await startInProcessApi();
});
afterEach(async () => {
  await api.close();
});

/** Returns the values of the samples with this name and all of these labels. */
async function samples(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number[]> {
  const { text } = await api.call('GET', '/metrics');
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`)))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
}

test('requests are counted by verb, resource, scope and code, and timed', async () => {
  await api.call('POST', CMS, { body: { metadata: { name: 'a' } } });
  await api.call('POST', CMS, { body: { metadata: { name: 'a' } } });
  await api.call('GET', CMS);
  await api.call('GET', `${CMS}/none`);
  const about = { group: '', version: 'v1', resource: 'configmaps' };
  const total = async (more: Readonly<Record<string, string>>): Promise<number[]> =>
    samples('apiserver_request_total', { ...about, ...more });
  expect(await total({ verb: 'POST', code: '201', scope: 'namespace' })).toEqual([1]);
  expect(await total({ verb: 'POST', code: '409' })).toEqual([1]);
  expect(await total({ verb: 'LIST', code: '200', scope: 'namespace' })).toEqual([1]);
  expect(await total({ verb: 'GET', code: '404', scope: 'resource' })).toEqual([1]);
  const timed = { ...about, verb: 'POST' };
  expect(await samples('apiserver_request_duration_seconds_count', timed)).toEqual([2]);
  expect(await samples('apiserver_request_duration_seconds_bucket', { ...timed, le: '+Inf' })).toEqual([2]);
  const buckets = await samples('apiserver_request_duration_seconds_bucket', timed);
  expect(buckets).toEqual([...buckets].sort((a, b) => a - b));
});

test('dry runs have separate series', async () => {
  await api.call('POST', `${CMS}?dryRun=All`, { body: { metadata: { name: 'a' } } });
  expect(await samples('apiserver_request_total', { verb: 'POST', dry_run: 'All' })).toEqual([1]);
});

test('a requested deprecated version is reported with the release that removes it, others are not', async () => {
  const name = 'apiserver_requested_deprecated_apis';
  const beta = `/apis/${GROUP.networking}/v1beta1/namespaces/default/ingresses`;
  expect(await samples(name)).toEqual([]);
  await api.call('GET', beta.replace('v1beta1', 'v1'));
  await api.call('GET', CMS);
  expect(await samples(name)).toEqual([]);
  await api.call('GET', beta);
  await api.call('GET', `${beta}/none`);
  await api.call('GET', `${beta}/none/status`);
  const about = {
    group: GROUP.networking,
    version: 'v1beta1',
    resource: 'ingresses',
    removed_release: '1.22',
  };
  expect(await samples(name, { ...about, subresource: '' })).toEqual([1]);
  expect(await samples(name, { ...about, subresource: 'status' })).toEqual([1]);
  expect(await samples(name)).toEqual([1, 1]);
});

test('names in paths that are not served do not become labels', async () => {
  for (let at = 0; at < 20; at += 1) await api.call('GET', `/apis/made.up/v1/things${at}/x`);
  expect(await samples('apiserver_request_total', { group: 'made.up' })).toEqual([]);
  expect(await samples('apiserver_request_total', { verb: 'other', code: '404' })).toEqual([20]);
});

test('a watch counts as long-running until it ends, and is listed with its user', async () => {
  const stop = new AbortController();
  const selectors = 'fieldSelector=metadata.name%3Da&labelSelector=app%21%3Db';
  const reader = api.watch(`${CMS}?watch=1&${selectors}`, stop.signal);
  const first = reader.next();
  while (api.plane.cache.watchers()[0]?.isLive !== true) await new Promise(setImmediate);
  await api.call('POST', CMS, { body: { metadata: { name: 'a' } } });
  expect((await first).value).toMatchObject({ type: 'ADDED' });
  const about = { verb: 'WATCH', resource: 'configmaps' };
  expect(await samples('apiserver_longrunning_gauge', about)).toEqual([1]);
  const { json } = await api.call('GET', '/debug/watchers');
  expect(json.watchers).toEqual([
    expect.objectContaining({
      resource: 'configmaps',
      namespace: 'default',
      name: 'a',
      labelSelector: 'app!=b',
      fieldSelector: 'metadata.name=a',
      isLive: true,
      queuedFrames: 0,
    }),
  ]);
  expect(json.watchers[0].client).toContain('tester');
  await reader.return(undefined);
  expect(await samples('apiserver_longrunning_gauge', about)).toEqual([0]);
  expect((await api.call('GET', '/debug/watchers')).json.watchers).toEqual([]);
});

test('the cache reports its objects, events, checks and delays', async () => {
  const stop = new AbortController();
  const reader = api.watch(`${CMS}?watch=1`, stop.signal);
  const first = reader.next();
  while (api.plane.cache.watchers()[0]?.isLive !== true) await new Promise(setImmediate);
  await api.call('POST', CMS, { body: { metadata: { name: 'a' } } });
  await first;
  await reader.return(undefined);
  await api.plane.cache.check(stop.signal);
  expect(await samples('apiserver_watch_cache_objects', { resource: 'configmaps' })).toEqual([1]);
  expect(await samples('apiserver_watch_events_total', { kind: 'ConfigMap', version: 'v1' })).toEqual([1]);
  expect((await samples('apiserver_watch_cache_checks_total', { outcome: 'different' }))[0]).toBe(0);
  expect((await samples('apiserver_watch_cache_checks_total', { outcome: 'equal' }))[0]).toBeGreaterThan(10);
  expect((await samples('apiserver_watch_delay_seconds_count', { stage: 'in_cache' }))[0]).toBeGreaterThan(0);
  expect((await samples('apiserver_watch_delay_seconds_count', { stage: 'to_door' }))[0]).toBe(1);
});

test('initial events, changes and bookmarks are counted as sent, by the requested version', async () => {
  const HPAS = 'namespaces/default/horizontalpodautoscalers';
  const sent = async (version: string): Promise<number[]> =>
    samples('apiserver_watch_events_total', { kind: 'HorizontalPodAutoscaler', version });
  const body = {
    metadata: { name: 'h' },
    spec: { maxReplicas: 1, scaleTargetRef: { kind: 'ReplicaSet', name: 'r' } },
  };
  expect((await api.call('POST', `/apis/autoscaling/v1/${HPAS}`, { body })).code).toBe(201);
  const stop = new AbortController();
  const url = `/apis/autoscaling/v1/${HPAS}?watch=1&allowWatchBookmarks=true`;
  const reader = api.watch(url, stop.signal);
  await reader.next();
  expect(await sent('v1')).toEqual([1]);
  await api.call('DELETE', `/apis/autoscaling/v1/${HPAS}/h`);
  expect((await reader.next()).value?.type).toBe('DELETED');
  expect(await sent('v1')).toEqual([2]);
  const rest = reader.next();
  await api.plane.cache.drain({ spreadMs: 0, refuseNew: false }, stop.signal);
  expect((await rest).value?.type).toBe('BOOKMARK');
  expect(await sent('v1')).toEqual([3]);
  expect(await sent('v2beta2')).toEqual([]);
});

test('every sample has a number and every metric its help and type', async () => {
  const { text, headers } = await api.call('GET', '/metrics');
  expect(headers['Content-Type']).toMatch(/^text\/plain; version=0\.0\.4/);
  for (const line of text.split('\n')) {
    expect(line).toMatch(/^$|^# (HELP|TYPE) \S+ .+|^[a-z_]+(\{[^}]*\})? [-+.e\d]+$/i);
  }
});

test('store errors are counted by the status code of the response', async () => {
  await api.close();
  const backend = new FaultyMemoryBackend();
  const create = backend.create.bind(backend);
  backend.create = async (...asked) => {
    if (asked[0].includes('configmaps/')) throw new StorageError('too-large', 'too much');
    return create(...asked);
  };
  api = await startInProcessApi(backend);
  expect((await api.call('POST', CMS, { body: { metadata: { name: 'a' } } })).code).toBe(413);
  expect(await samples('apiserver_request_total', { verb: 'POST', code: '413' })).toEqual([1]);
  expect(await samples('apiserver_request_total', { code: '500' })).toEqual([]);
});

test('a watch is counted and timed only when it ends', async () => {
  const stop = new AbortController();
  const reader = api.watch(`${CMS}?watch=1`, stop.signal);
  const first = reader.next();
  while (api.plane.cache.watchers()[0]?.isLive !== true) await new Promise(setImmediate);
  await api.call('POST', CMS, { body: { metadata: { name: 'a' } } });
  await first;
  const about = { verb: 'WATCH', resource: 'configmaps' };
  const registered = { group: '', version: 'v1', kind: 'ConfigMap' };
  expect(await samples('apiserver_request_total', about)).toEqual([]);
  expect(await samples('apiserver_registered_watchers', registered)).toEqual([1]);
  await reader.return(undefined);
  expect(await samples('apiserver_request_total', { ...about, code: '200' })).toEqual([1]);
  expect(await samples('apiserver_request_duration_seconds_count', about)).toEqual([1]);
  expect(await samples('apiserver_request_sli_duration_seconds_count', about)).toEqual([]);
  expect(await samples('apiserver_registered_watchers', registered)).toEqual([0]);
});

test('events for existing objects of a watch count as initial, later ones do not', async () => {
  await api.call('POST', CMS, { body: { metadata: { name: 'a' } } });
  const stop = new AbortController();
  const reader = api.watch(`${CMS}?watch=1`, stop.signal);
  await reader.next();
  const second = reader.next();
  while (api.plane.cache.watchers()[0]?.isLive !== true) await new Promise(setImmediate);
  await api.call('POST', CMS, { body: { metadata: { name: 'b' } } });
  await second;
  expect(await samples('apiserver_init_events_total', { resource: 'configmaps' })).toEqual([1]);
  expect(await samples('apiserver_watch_events_total', { kind: 'ConfigMap' })).toEqual([2]);
  await reader.return(undefined);
});

test('the response sizes of reads are counted, those of writes are not', async () => {
  await api.call('POST', CMS, { body: { metadata: { name: 'a' } } });
  const { text } = await api.call('GET', `${CMS}/a`);
  await api.call('GET', CMS);
  const sizes = async (verb: string): Promise<number[]> =>
    samples('apiserver_response_sizes_sum', { verb, resource: 'configmaps' });
  expect(await sizes('GET')).toEqual([Buffer.byteLength(text)]);
  expect((await sizes('LIST'))[0]).toBeGreaterThan(0);
  expect(await sizes('POST')).toEqual([]);
});

test('requests terminated in self-defense are counted separately from rejected ones', async () => {
  await api.close();
  const backend = new FaultyMemoryBackend();
  const create = backend.create.bind(backend);
  backend.create = async (...asked) => {
    if (asked[0].includes('configmaps/')) throw new StorageError('unknown-outcome', 'no answer');
    return create(...asked);
  };
  api = await startInProcessApi(backend);
  expect((await api.call('POST', CMS, { body: { metadata: { name: 'a' } } })).code).toBe(504);
  expect((await api.call('POST', `${CMS}?dryRun=All`, { body: { metadata: { name: 'a' } } })).code).toBe(201);
  expect((await api.call('GET', `${CMS}/none`)).code).toBe(404);
  const name = 'apiserver_request_terminations_total';
  expect(await samples(name, { verb: 'POST', resource: 'configmaps', code: '504' })).toEqual([1]);
  expect(await samples(name)).toEqual([1]);
});

test('the sizes of events are counted as often as the events are sent', async () => {
  const stop = new AbortController();
  const readers = [api.watch(`${CMS}?watch=1`, stop.signal), api.watch(`${CMS}?watch=1`, stop.signal)];
  const first = readers.map(async (reader) => reader.next());
  while (api.plane.cache.watchers().filter(({ isLive }) => isLive).length < 2) {
    await new Promise(setImmediate);
  }
  await api.call('POST', CMS, { body: { metadata: { name: 'a' }, data: { k: 'x'.repeat(3_000) } } });
  await Promise.all(first);
  for (const reader of readers) await reader.return(undefined);
  const about = { group: '', version: 'v1', kind: 'ConfigMap' };
  expect(await samples('apiserver_watch_events_sizes_count', about)).toEqual([2]);
  expect(await samples('apiserver_watch_events_sizes_bucket', { ...about, le: '2048' })).toEqual([0]);
  expect(await samples('apiserver_watch_events_sizes_bucket', { ...about, le: '4096' })).toEqual([2]);
  const [bytes = 0] = await samples('apiserver_watch_events_sizes_sum', about);
  expect(bytes).toBeGreaterThan(6_000);
  expect(bytes).toBeLessThan(8_192);
});

test('filters count the requests that they pass on, and not those that they reject', async () => {
  const counted = async (filter: string): Promise<number> =>
    (await samples('apiserver_request_filter_duration_seconds_count', { filter }))[0] ?? 0;
  const before = [await counted('impersonation'), await counted('authorization')];
  // A group without a user fails in the impersonation filter.
  await api.call('GET', CMS, { headers: { 'impersonate-group': 'x' } });
  const after = [await counted('impersonation'), await counted('authorization')];
  // A scrape is a request itself, and each metric has been scraped once more the second time.
  expect(after.map((count, at) => count - (before[at] ?? 0))).toEqual([2, 2]);
  expect(await counted('audit')).toBe(0);
  const about = { filter: 'authorization', le: '+Inf' };
  expect(await samples('apiserver_request_filter_duration_seconds_bucket', about)).toHaveLength(1);
});

test('a response aborted by the server is counted, one aborted by the client is not', async () => {
  const about = { verb: 'WATCH', resource: 'configmaps', scope: 'namespace' };
  for (const [reason, times] of [
    [new ClientGoneError(), []],
    [new Error('its time is over'), [1]],
  ] as const) {
    const stop = new AbortController();
    const reader = api.watch(`${CMS}?watch=1`, stop.signal);
    const next = reader.next().catch(() => undefined);
    while (api.plane.cache.watchers().length === 0) await new Promise(setImmediate);
    stop.abort(reason);
    await next;
    await reader.return(undefined);
    expect(await samples('apiserver_request_aborts_total', about)).toEqual(times);
  }
});
