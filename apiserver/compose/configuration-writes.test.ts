import { silentLog } from '../../shared/log/log';
import { GROUP, USER_GROUP } from '../../shared/names';
import { patience } from '../../shared/testing/eventually';
import type { Backend } from '../engine/storage/backend';
import { FaultyMemoryBackend } from '../engine/storage/testing/faulty-memory-backend';
import { parseRequestInfo } from '../engine/request/request-info';
import { newExchange } from '../engine/request/testing/new-exchange';
import { createBootstrapObjects } from '../kubernetes/bootstrap/bootstrap-objects';
import { createPolicyHook } from '../kubernetes/bootstrap/policy-hook';
import { createStartHooks } from '../kubernetes/bootstrap/start-hooks';
import { DEFAULT_KIND_SETTINGS } from '../engine/registry/strategy';
import { configurationOf, hookAt } from '../kubernetes/admission/webhooks/testing/webhook-server';
import { definitionBody } from '../testing/custom-resources/definitions';
import type { InProcessApi } from '../testing/in-process-api';
import { startInProcessApi } from '../testing/in-process-api';
import type { Flow } from './flow-control';
import { startFlowControl } from './flow-control';

/** Long enough that a request which does not wait for the watch event overtakes it. */
const EVENT_DELAY_MS = 100;
const FLOWCONTROL = `/apis/${GROUP.flowcontrol}/v1beta1`;
const RBAC = `/apis/${GROUP.rbac}/v1`;
const PODS = '/api/v1/namespaces/default/pods';
const READER = { headers: { 'impersonate-user': 'reader' } };

/** A store whose watch events arrive late. */
function withLateEvents(store: Backend): Backend {
  return {
    get: async (key, signal) => store.get(key, signal),
    list: async (prefix, options, signal) => store.list(prefix, options, signal),
    create: async (key, value, options, signal) => store.create(key, value, options, signal),
    update: async (key, value, options, signal) => store.update(key, value, options, signal),
    delete: async (key, expected, signal) => store.delete(key, expected, signal),
    compact: async (revision, signal) => store.compact(revision, signal),
    close: async () => store.close(),
    currentRevision: async (signal) => store.currentRevision(signal),
    async *watch(options, signal) {
      for await (const batch of store.watch(options, signal)) {
        await new Promise((resolve) => setTimeout(resolve, EVENT_DELAY_MS));
        yield batch;
      }
    },
  };
}

let api: InProcessApi;
let flow: Flow;
let shutdown: AbortController;

beforeEach(async () => {
  shutdown = new AbortController();
  api = await startInProcessApi(withLateEvents(new FaultyMemoryBackend()), { authorizationModes: ['RBAC'] });
  flow = startFlowControl(
    {
      isFair: true,
      max: { mutating: 200, readOnly: 400 },
      bytesMax: 1_000_000,
      sharedBy: undefined,
      waitMsMax: 15_000,
    },
    {
      plane: api.plane,
      log: silentLog,
      dropped: { mutating: 0, readOnly: 0 },
      storePrefix: '/registry',
    },
    shutdown.signal,
  );
});
afterEach(async () => {
  shutdown.abort();
  await api.close();
});

async function write(method: string, path: string, body?: object): Promise<string> {
  const { code, text, json } = await api.call(method, path, { body });
  if (code >= 300) throw new Error(text);
  return json.metadata?.uid ?? '';
}

async function schemaUidOf(user: string): Promise<string | undefined> {
  const exchange = newExchange({ path: PODS });
  exchange.info = parseRequestInfo('GET', PODS, new URLSearchParams());
  exchange.user = { name: user, uid: '', groups: [USER_GROUP.authenticated], extra: {} };
  await flow.stage(exchange, async () => Promise.resolve());
  exchange.end();
  return exchange.flow?.schemaUid;
}

const rules = [
  {
    subjects: [{ kind: 'User', user: { name: 'reader' } }],
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
  },
];

test('a FlowSchema classifies the requests that begin after its creation was acknowledged', async () => {
  const uid = await write('POST', `${FLOWCONTROL}/flowschemas`, {
    metadata: { name: 'readers' },
    spec: { priorityLevelConfiguration: { name: 'catch-all' }, matchingPrecedence: 100, rules },
  });
  expect(await schemaUidOf('reader')).toBe(uid);
  expect((await api.call('DELETE', `${FLOWCONTROL}/flowschemas/readers`)).code).toBe(200);
  expect(await schemaUidOf('reader')).not.toBe(uid);
});

test('a removed binding allows no request that begins after its removal was acknowledged', async () => {
  await write('POST', `${RBAC}/clusterroles`, {
    metadata: { name: 'reader' },
    rules: [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }],
  });
  await write('POST', `${RBAC}/clusterrolebindings`, {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: GROUP.rbac, kind: 'ClusterRole', name: 'reader' },
    subjects: [{ apiGroup: GROUP.rbac, kind: 'User', name: 'reader' }],
  });
  expect((await api.call('GET', PODS, READER)).code).toBe(200);
  const { code } = await api.call('DELETE', `${RBAC}/clusterrolebindings/readers`);
  expect(code).toBe(200);
  expect((await api.call('GET', PODS, READER)).code).toBe(403);
});

test('a rule that was removed from a role allows no request after the update was acknowledged', async () => {
  const role = {
    metadata: { name: 'reader' },
    rules: [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }],
  };
  await write('POST', `${RBAC}/namespaces/default/roles`, role);
  await write('POST', `${RBAC}/namespaces/default/rolebindings`, {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: GROUP.rbac, kind: 'Role', name: 'reader' },
    subjects: [{ apiGroup: GROUP.rbac, kind: 'User', name: 'reader' }],
  });
  expect((await api.call('GET', PODS, READER)).code).toBe(200);
  await write('PUT', `${RBAC}/namespaces/default/roles/reader`, { ...role, rules: [] });
  expect((await api.call('GET', PODS, READER)).code).toBe(403);
});

/** The object in the watch cache of the replica. */
function cached(resource: string, name: string): unknown {
  const stored = api.plane.registry().stored.find((each) => each.resource === resource);
  if (stored === undefined) throw new Error(`${resource} are not stored`);
  return api.plane.cache.resource(stored.keyPrefix).get(stored.namespaced ? `default/${name}` : name)
    ?.revision;
}

test('every verb of a write is acknowledged once the cache of the replica has its result', async () => {
  const path = '/api/v1/namespaces/default/serviceaccounts';
  const metadata = { name: 'a' };
  const apply = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { ...metadata, labels: { a: 'apply' } },
  };
  const finalizers = ['example.com/f'];
  const seen: Record<string, boolean> = {};
  const expectCached = async (
    verb: string,
    method: string,
    url: string,
    options: Parameters<InProcessApi['call']>[2],
  ): Promise<void> => {
    const { code, text, json } = await api.call(method, url, options);
    if (code >= 300) throw new Error(text);
    const isGone = verb.startsWith('removal');
    const revision = isGone ? undefined : Number(json.metadata.resourceVersion);
    seen[verb] = cached('serviceaccounts', 'a') === revision;
  };
  await expectCached('create', 'POST', path, { body: { metadata } });
  await expectCached('update', 'PUT', `${path}/a`, {
    body: { metadata: { ...metadata, labels: { a: 'b' } } },
  });
  await expectCached('patch', 'PATCH', `${path}/a`, { body: { metadata: { finalizers } } });
  await expectCached('apply', 'PATCH', `${path}/a?fieldManager=me&force=true`, {
    body: apply,
    headers: { 'content-type': 'application/apply-patch+yaml' },
  });
  await expectCached('mark', 'DELETE', `${path}/a`, {});
  await expectCached('removal by the last finalizer', 'PATCH', `${path}/a`, {
    body: { metadata: { finalizers: null } },
  });
  await write('POST', path, { metadata });
  await expectCached('removal', 'DELETE', `${path}/a`, {});
  await write('POST', path, { metadata });
  await expectCached('removal with the collection', 'DELETE', path, {});
  expect(Object.entries(seen).filter(([, isCached]) => !isCached)).toEqual([]);
  expect(Object.keys(seen)).toHaveLength(8);
});

test('a ResourceQuota limits the objects whose creation begins after its status was acknowledged', async () => {
  const quotas = '/api/v1/namespaces/default/resourcequotas';
  const [metadata, hard] = [{ name: 'q' }, { configmaps: '0' }];
  await write('POST', quotas, { metadata, spec: { hard } });
  await write('PUT', `${quotas}/q/status`, { metadata, spec: { hard }, status: { hard, used: hard } });
  const body = { metadata: { name: 'm' } };
  const { code, json } = await api.call('POST', '/api/v1/namespaces/default/configmaps', { body });
  expect([code, json.message]).toEqual([403, expect.stringContaining('exceeded quota: q')]);
});

test('a new webhook is called for the requests that begin after its creation was acknowledged', async () => {
  const { path, body } = configurationOf('Validating', 'conf', [
    hookAt({ url: 'https://127.0.0.1:1/', caBundle: '' }, { timeoutSeconds: 1 }),
  ]);
  await write('POST', path, body);
  const create = async (): Promise<number> =>
    (await api.call('POST', '/api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'm' } } }))
      .code;
  expect(await create()).toBe(500);
  await write('DELETE', `${path}/conf`);
  expect(await create()).toBe(201);
});

test.each([
  ['apiservices', `/apis/${GROUP.apiregistration}/v1/apiservices`, 'v1.x.example.com'],
  [
    'customresourcedefinitions',
    `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`,
    'gizmos.example.com',
  ],
  ['secrets', '/api/v1/namespaces/default/secrets', 's'],
  ['namespaces', '/api/v1/namespaces', 'n'],
])('a write of %s is acknowledged once the cache of the replica has it', async (resource, path, name) => {
  const bodies: Record<string, object> = {
    apiservices: {
      metadata: { name },
      spec: {
        group: 'x.example.com',
        version: 'v1',
        groupPriorityMinimum: 1,
        versionPriority: 1,
        service: { namespace: 'default', name: 's' },
        insecureSkipTLSVerify: true,
      },
    },
    customresourcedefinitions: definitionBody({}),
  };
  await write('POST', path, bodies[resource] ?? { metadata: { name } });
  expect(cached(resource, name)).toBeDefined();
});

test('a replica is ready only when all flow control objects and roles of the bootstrap are in force', async () => {
  const { plane, backend } = api;
  const { store, registry } = plane;
  const hooks = createStartHooks([]);
  const policyHook = createPolicyHook({
    store,
    registry,
    log: silentLog,
    kindSettings: DEFAULT_KIND_SETTINGS,
  });
  const parts = { plane, backend, prefix: '/registry', policyHook, hooks, log: silentLog };
  await createBootstrapObjects(parts).ensure(patience());
  const levels = [...(flow.report?.control.levels ?? [])].map(({ name }) => name);
  expect(levels).toEqual(expect.arrayContaining(['exempt', 'catch-all', 'system', 'workload-high']));
  const discovery = await api.call('GET', '/api', {
    headers: { 'impersonate-user': 'reader', 'impersonate-group': USER_GROUP.authenticated },
  });
  expect(discovery.code).toBe(200);
});
