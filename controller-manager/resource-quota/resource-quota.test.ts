import { once } from 'node:events';
import type { InProcessApi } from '../../apiserver/testing/in-process-api';
import { startInProcessApi } from '../../apiserver/testing/in-process-api';
import { FaultyMemoryBackend } from '../../apiserver/engine/storage/testing/faulty-memory-backend';
import { createPolicyHook } from '../../apiserver/kubernetes/bootstrap/policy-hook';
import type { Client } from '../../shared/client/client';
import type { WatchEvent } from '../../shared/client/options';
import { queryString, resourcePath } from '../../shared/client/resource-path';
import { statusErrorFromAnswer } from '../../shared/client/status';
import { linkedAbort } from '../../shared/concurrency/linked-abort';
import { systemClock } from '../../shared/concurrency/clock';
import { createWorkQueue } from '../../shared/concurrency/work-queue';
import { StatusError } from '../../shared/errors/status-error';
import { silentLog } from '../../shared/log/log';
import type { ApiObject } from '../../shared/object/object';
import { GROUP, NAMESPACE } from '../../shared/names';
import { eventually, patience } from '../../shared/testing/eventually';
import type { QuotaTimings } from './resource-quota';
import { createSharedInformers } from '../runtime/shared-informers';
import { runResourceQuota } from './resource-quota';

const QUOTAS = '/api/v1/namespaces/default/resourcequotas';
const PODS = '/api/v1/namespaces/default/pods';
const MAPS = '/api/v1/namespaces/default/configmaps';
const ACCOUNT = `system:serviceaccount:${NAMESPACE.system}:resourcequota-controller`;
const NOW = { gracePeriodSeconds: 0 };

let api: InProcessApi;
let stop: ReturnType<typeof linkedAbort>;
let running: Promise<void> | undefined;
/** Successful writes of the controller. A write with an outdated version is refused. */
let writes: string[] = [];

/** Resources that the controller has read for confirmation. */
let reads: string[] = [];
/** The watch of this resource stays open and delivers nothing. */
let silent: string | undefined;
/** Aborted: config maps can neither be listed nor watched, as with an unavailable extension API server. */
let mapsBreak: AbortController;

/** A pod named `late` is not stored before this resolves. */
let lateIsStored: Promise<void>;

function slowBackend(): FaultyMemoryBackend {
  const backend = new FaultyMemoryBackend();
  const create = backend.create.bind(backend);
  backend.create = async (...asked) => {
    if (asked[0].endsWith('/pods/default/late')) await lateIsStored;
    return create(...asked);
  };
  return backend;
}

/** A server with RBAC and the default roles. */
beforeEach(async () => {
  writes = [];
  reads = [];
  silent = undefined;
  mapsBreak = new AbortController();
  stop = linkedAbort(new AbortController().signal);
  lateIsStored = Promise.resolve();
  api = await startInProcessApi(slowBackend(), { authorizationModes: ['RBAC'] });
  const { store, registry } = api.plane;
  await createPolicyHook({ store, registry, log: silentLog }).run(stop.signal);
});
afterEach(async () => {
  stop.abort(new Error('the test is over'));
  await running;
  running = undefined;
  await api.close();
});

function runController(timings: QuotaTimings = {}, periodMs = 300_000): void {
  const client = clientOf(api);
  const options = {
    concurrentNamespaceSyncs: 1,
    namespaceSyncPeriodMs: 60_000,
    concurrentGcSyncs: 1,
    resourceQuotaSyncPeriodMs: periodMs,
  };
  const informers = createSharedInformers({ client, log: silentLog }, stop.signal);
  const context = {
    client,
    reader: client,
    informers,
    log: silentLog,
    options,
    createQueue: createWorkQueue,
    clock: systemClock,
  };
  running = runResourceQuota(context, stop.signal, { settleMs: 60, ...timings });
}

/** The part of a client that the controller uses, acting as its service account. */
function clientOf(server: InProcessApi): Client {
  const call = async (method: string, url: string, body?: unknown): Promise<never> => {
    const { code, json, text } = await server.call(method, url, {
      body,
      headers: { 'impersonate-user': ACCOUNT },
    });
    if (code >= 300) throw statusErrorFromAnswer({ code, text });
    if (method !== 'GET') writes.push(`${method} ${url}`);
    return json as never;
  };
  const client: Partial<Client> = {
    getJson: async (path) => call('GET', path),
    list: async (resource, { namespace, limit } = {}) => {
      reads.push(resource.resource);
      checkBroken(resource.resource);
      return call('GET', resourcePath(resource, { namespace }) + queryString({ limit }));
    },
    listAll: async (resource) => {
      checkBroken(resource.resource);
      return call('GET', resourcePath(resource, {}));
    },
    watch: (resource, { resourceVersion, signal: end = new AbortController().signal, onOpen } = {}) => {
      checkBroken(resource.resource);
      onOpen?.();
      const signal = resource.resource === 'configmaps' ? linkedAbort(end, mapsBreak.signal).signal : end;
      if (resource.resource === silent) return silence(signal);
      return server.watch(
        resourcePath(resource, {}) + queryString({ watch: true, resourceVersion }),
        signal,
      ) as AsyncIterable<WatchEvent<never>>;
    },
    updateStatus: async (resource, object) =>
      call('PUT', resourcePath(resource, { ...placeOf(object), subresource: 'status' }), object),
  };
  return client as Client;
}

function checkBroken(resource: string): void {
  if (resource === 'configmaps' && mapsBreak.signal.aborted) {
    throw new StatusError('ServiceUnavailable', 'the server is currently unable to handle the request');
  }
}

function silence(signal: AbortSignal): AsyncIterable<never> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        if (!signal.aborted) await once(signal, 'abort');
        return { done: true, value: undefined };
      },
    }),
  };
}

function placeOf({ metadata: { name = '', namespace } }: ApiObject): {
  name: string;
  namespace: string | undefined;
} {
  return { name, namespace };
}

async function write(method: string, path: string, body: object): Promise<ApiObject> {
  const { code, json, text } = await api.call(method, path, { body });
  if (code >= 300) throw new Error(text);
  return json as ApiObject;
}

async function makeQuota(hard: object, more: object = {}): Promise<void> {
  await write('POST', QUOTAS, { metadata: { name: 'q' }, spec: { hard, ...more } });
}

/** Resolves with the quota once its usage has this value. */
async function used(wanted: Record<string, string>): Promise<ApiObject> {
  const url = `${QUOTAS}?watch=1&fieldSelector=metadata.name%3Dq`;
  const limit = patience();
  let last: unknown;
  for await (const { object } of api.watch(url, limit)) {
    last = (object['status'] as { used?: unknown } | undefined)?.used;
    if (JSON.stringify(sorted(last)) === JSON.stringify(sorted(wanted)))
      return object as unknown as ApiObject;
  }
  throw new Error(`the watch has ended, and what is used is ${JSON.stringify(last)}`);
}

function sorted(amounts: unknown): unknown {
  return Object.entries(amounts ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const pod = (name: string, more: object = {}): object => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }], ...more },
});

test('a new quota gets the usage and the changed limits at once', async () => {
  await write('POST', PODS, pod('a'));
  await write('POST', MAPS, { metadata: { name: 'm' } });
  runController();
  await makeQuota({ pods: '5', 'requests.cpu': '1', configmaps: '3', 'count/deployments.apps': '2' });
  const quota = await used({
    pods: '1',
    'requests.cpu': '100m',
    configmaps: '1',
    'count/deployments.apps': '0',
  });
  expect(quota['status']).toMatchObject({ hard: { pods: '5', 'requests.cpu': '1' } });
  await write('PATCH', `${QUOTAS}/q`, { spec: { hard: { pods: '7', configmaps: null } } });
  const changed = await used({ pods: '1', 'requests.cpu': '100m', 'count/deployments.apps': '0' });
  expect(changed['status']).toMatchObject({ hard: { pods: '7' } });
});

test('charges of admission stay, and deleted objects are released', async () => {
  runController();
  await makeQuota({ pods: '2' });
  await used({ pods: '0' });
  await write('POST', PODS, pod('a'));
  await write('POST', PODS, pod('b'));
  expect((await api.call('POST', PODS, { body: pod('c') })).json.message).toBe(
    'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
  );
  await write('DELETE', `${PODS}/a`, NOW);
  await used({ pods: '1' });
  await write('POST', PODS, pod('c'));
  await used({ pods: '2' });
});

test('a finished pod is not charged, although it exists', async () => {
  runController();
  await makeQuota({ pods: '2', 'count/pods': '5' });
  await used({ pods: '0', 'count/pods': '0' });
  const made = await write('POST', PODS, pod('a'));
  await used({ pods: '1', 'count/pods': '1' });
  await write('PUT', `${PODS}/a/status`, { ...made, status: { phase: 'Succeeded' } });
  const quota = await used({ pods: '0', 'count/pods': '1' });
  expect(quota.metadata.name).toBe('q');
});

test('only pods in the scope of a quota are counted', async () => {
  await write('POST', PODS, pod('a', { activeDeadlineSeconds: 100 }));
  await write('POST', PODS, pod('b'));
  runController();
  await makeQuota({ pods: '5', 'requests.cpu': '5' }, { scopes: ['Terminating'] });
  const quota = await used({ pods: '1', 'requests.cpu': '100m' });
  expect(quota.metadata.name).toBe('q');
});

test('the charge of a failed creation is released', async () => {
  runController();
  await makeQuota({ configmaps: '5' });
  await used({ configmaps: '0' });
  await write('POST', MAPS, { metadata: { name: 'm' } });
  expect((await api.call('POST', MAPS, { body: { metadata: { name: 'm' } } })).code).toBe(409);
  await used({ configmaps: '2' });
  const quota = await used({ configmaps: '1' });
  expect(quota.metadata.name).toBe('q');
});

test('custom resources are counted once there are any', async () => {
  runController({ discoveryPeriodMs: 20 });
  await makeQuota({ 'count/widgets.example.com': '5', pods: '1' });
  await used({ pods: '0' });
  await write('POST', `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`, {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
  });
  await used({ pods: '0', 'count/widgets.example.com': '0' });
  const path = '/apis/example.com/v1/namespaces/default/widgets';
  await write('POST', path, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } });
  await used({ pods: '0', 'count/widgets.example.com': '1' });
  await write('DELETE', `${path}/w`, {});
  await used({ pods: '0', 'count/widgets.example.com': '0' });
  expect(writes.length).toBeGreaterThan(0);
});

test('a status written by another client is corrected, also by the periodic sync', async () => {
  runController({}, 30);
  await makeQuota({ pods: '2' });
  const quota = await used({ pods: '0' });
  const status = { hard: { pods: '2' }, used: { pods: '2' } };
  await write('PUT', `${QUOTAS}/q/status`, { ...quota, status });
  const right = await used({ pods: '0' });
  expect(right.metadata.name).toBe('q');
});

test('without changes nothing is written', async () => {
  // A charge counts as long as a pod needs to be stored in this test.
  runController({ settleMs: 600_000 }, 10);
  await makeQuota({ pods: '5', secrets: '1' });
  await used({ pods: '0', secrets: '0' });
  await write('POST', PODS, pod('a'));
  await used({ pods: '1', secrets: '0' });
  // Another quota gets its usage after all of this.
  const calculated = writes.length;
  await makeLaterQuota();
  expect(calculated).toBe(1);
  await eventually('the controller has seen its last write', () => writes.length > 1);
  expect(writes).toHaveLength(2);
});

test('the charge of a pod that is just being stored is not released', async () => {
  let store = (): void => undefined;
  lateIsStored = new Promise((resolve) => {
    store = resolve;
  });
  runController({ settleMs: 3_000, paceMs: 0 });
  await makeQuota({ pods: '5' });
  const { metadata } = await used({ pods: '0' });
  const late = api.call('POST', PODS, { body: pod('late') });
  await used({ pods: '1' });
  await write('POST', PODS, pod('a'));
  await used({ pods: '2' });
  await write('DELETE', `${PODS}/a`, NOW);
  await makeLaterQuota();
  store();
  expect((await late).code).toBe(201);
  expect(await historyOf('q', metadata.resourceVersion ?? '', '1')).toEqual(['1', '2', '1']);
});

/** Resolves once its status is written, so all earlier work is done. */
async function makeLaterQuota(): Promise<void> {
  await write('POST', QUOTAS, { metadata: { name: 'later' }, spec: { hard: { pods: '1' } } });
  const limit = patience();
  for await (const { object } of api.watch(`${QUOTAS}?watch=1&fieldSelector=metadata.name%3Dlater`, limit)) {
    if ((object['status'] as { used?: object } | undefined)?.used !== undefined) return;
  }
}

/** Returns the pod counts of the quota since this version, until it has fallen to `end`. */
async function historyOf(name: string, resourceVersion: string, end: string): Promise<readonly string[]> {
  const history: string[] = [];
  const url = `${QUOTAS}?watch=1&fieldSelector=metadata.name%3D${name}&resourceVersion=${resourceVersion}`;
  for await (const { object } of api.watch(url, patience())) {
    const { pods } = (object['status'] as { used: { pods: string } }).used;
    history.push(pods);
    if (history.length > 1 && Number(pods) <= Number(end)) return history;
  }
  throw new Error(`the watch has ended after ${history.join(', ')}`);
}

test('pods that come and go while a quota is nearly full never exceed it and are never blocked for long', async () => {
  // Pending charges are stored within this time even on a slow machine; a release that is too early would show.
  runController({ settleMs: 3_000 });
  await makeQuota({ pods: '3' });
  await used({ pods: '0' });
  let most = 0;
  let made = 0;
  const limit = patience();
  while (made < 9) {
    limit.throwIfAborted();
    const names = [0, 1, 2, 3, 4].map((index) => `p${String(made)}-${String(index)}`);
    const replies = await Promise.all(names.map(async (name) => api.call('POST', PODS, { body: pod(name) })));
    const { json } = await api.call('GET', PODS);
    most = Math.max(most, json.items.length as number);
    const stored = names.filter((_, index) => replies[index]?.code === 201);
    made += stored.length;
    await Promise.all(stored.map(async (name) => api.call('DELETE', `${PODS}/${name}`, { body: NOW })));
    if (stored.length === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(most).toBe(3);
});

test('a silent open watch releases no charge', async () => {
  silent = 'configmaps';
  await makeQuota({ 'count/configmaps': '1' });
  runController();
  await used({ 'count/configmaps': '0' });
  await write('POST', MAPS, { metadata: { name: 'm' } });
  await used({ 'count/configmaps': '1' });
  const before = writes.length;
  await eventually('the controller has looked twice', () => reads.length > 1 || writes.length > before);
  const { code } = await api.call('POST', MAPS, { body: { metadata: { name: 'too-many' } } });
  expect(code).toBe(403);
  expect(reads).toContain('configmaps');
});

test('usage is released while another resource of the quota is unavailable, whose usage stays', async () => {
  await makeQuota({ pods: '5', 'count/configmaps': '5' });
  runController();
  await used({ pods: '0', 'count/configmaps': '0' });
  await write('POST', PODS, pod('a'));
  await write('POST', MAPS, { metadata: { name: 'm' } });
  await used({ pods: '1', 'count/configmaps': '1' });
  mapsBreak.abort(new Error('unavailable'));
  await write('DELETE', `${MAPS}/m`, NOW);
  await write('DELETE', `${PODS}/a`, NOW);
  const quota = await used({ pods: '0', 'count/configmaps': '1' });
  expect(quota.metadata.name).toBe('q');
});
