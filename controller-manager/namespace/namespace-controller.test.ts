import { RESOURCE } from '../../shared/api/resource-names';
import {
  ALL_VERBS,
  CONFIG_MAPS,
  FAKE_RESOURCES,
  NAMESPACES,
  PODS,
  REPLICA_SETS,
  SERVICES,
} from '../../shared/client/testing/fake-resources';
import type { Namespace } from '../../shared/api/types/core-v1';
import { StatusError } from '../../shared/errors/status-error';
import type { FakeResource } from '../../shared/client/testing/fake-resources';
import { FINALIZER, GROUP } from '../../shared/names';
import { eventually } from '../../shared/testing/eventually';
import type { Bench } from '../testing/bench';
import { TEST_NAMESPACE, createBench } from '../testing/bench';
import { runNamespaceController } from './namespace-controller';

let bench: Bench;
beforeEach(async () => {
  bench = await createBench();
});
afterEach(async () => bench.close());

const place = { resource: NAMESPACES, namespace: '', name: TEST_NAMESPACE };

function start(): void {
  bench.run(async (context, signal) => runNamespaceController(context, signal));
}
const deleteNamespace = async (): Promise<unknown> =>
  bench.client.delete(NAMESPACES, { name: TEST_NAMESPACE });
const namespaceNow = (): Namespace | undefined => bench.server.store.find(place) as Namespace | undefined;
const conditionNow = (type: string) => namespaceNow()?.status?.conditions?.find((each) => each.type === type);

test('a terminating namespace is emptied, also of objects that must be deleted one by one, and then removed', async () => {
  for (const name of ['a', 'b', 'c']) {
    bench.make(CONFIG_MAPS, name);
    bench.make(SERVICES, name);
    bench.make(REPLICA_SETS, name);
  }
  start();
  await deleteNamespace();
  await bench.until(() => namespaceNow() === undefined);
  for (const resource of [CONFIG_MAPS, SERVICES, REPLICA_SETS]) {
    expect(bench.server.store.list(resource, TEST_NAMESPACE)).toEqual([]);
  }
  const deletions = bench.server.seen.filter(({ method }) => method === 'DELETE').map(({ path }) => path);
  expect(deletions).toContain(`/api/v1/namespaces/${TEST_NAMESPACE}/configmaps`);
  expect(deletions).toContain(`/api/v1/namespaces/${TEST_NAMESPACE}/services/b`);
});

test('an empty namespace is removed after one check that starts after the deletion mark', async () => {
  start();
  await deleteNamespace();
  await bench.until(() => namespaceNow() === undefined);
  const seen = bench.server.seen.map(({ method, path }) => `${method} ${path}`);
  const lists = seen.filter((line) => line === `GET /api/v1/namespaces/${TEST_NAMESPACE}/configmaps`);
  expect(lists).toHaveLength(1);
  expect(seen.indexOf(lists[0] ?? '')).toBeGreaterThan(
    seen.indexOf(`DELETE /api/v1/namespaces/${TEST_NAMESPACE}`),
  );
});

test('an active namespace, and objects of other namespaces, are left alone', async () => {
  const { store } = bench.server;
  store.create({ ...place, name: 'other' }, { metadata: { name: 'other' } });
  store.create({ resource: CONFIG_MAPS, namespace: 'other', name: 'kept' }, { metadata: {} });
  bench.make(CONFIG_MAPS, 'a');
  start();
  await deleteNamespace();
  await bench.until(() => namespaceNow() === undefined);
  expect(store.find({ ...place, name: 'other' })).toBeDefined();
  expect(store.list(CONFIG_MAPS)).toHaveLength(1);
});

test('content held by a finalizer appears in the conditions, and the namespace is removed once it is released', async () => {
  bench.make(CONFIG_MAPS, 'held', { finalizers: ['example.com/hold'] });
  start();
  await deleteNamespace();
  await bench.until(() => conditionNow('NamespaceFinalizersRemaining')?.status === 'True');
  expect(conditionNow('NamespaceContentRemaining')?.message).toBe(
    'Some resources are remaining: configmaps. has 1 resource instances',
  );
  expect(conditionNow('NamespaceFinalizersRemaining')?.message).toBe(
    'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
  );
  expect(namespaceNow()?.spec?.finalizers).toEqual([FINALIZER.namespaceContent]);
  const held = bench.find(CONFIG_MAPS, 'held');
  await bench.client.update(CONFIG_MAPS, { ...held, metadata: { ...held?.metadata, finalizers: [] } });
  await bench.until(() => namespaceNow() === undefined);
});

test('pods get their grace period', async () => {
  bench.make(PODS, 'p', { spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 } });
  start();
  await deleteNamespace();
  await bench.until(() => conditionNow('NamespaceContentRemaining')?.status === 'True');
  expect(conditionNow('NamespaceDeletionContentFailure')?.status).toBe('False');
  await bench.client.delete(PODS, { namespace: TEST_NAMESPACE, name: 'p' }, { gracePeriodSeconds: 0 });
  await bench.until(() => namespaceNow() === undefined);
});

test('while a group does not answer discovery the namespace stays, and a condition and an event name the group', async () => {
  const groupVersion = `${GROUP.coordination}/v1`;
  bench.server.brokenGroupVersions.add(groupVersion);
  bench.make(CONFIG_MAPS, 'a');
  start();
  await deleteNamespace();
  await bench.until(() => conditionNow('NamespaceDeletionDiscoveryFailure')?.status === 'True');
  expect(conditionNow('NamespaceDeletionDiscoveryFailure')?.message).toContain(groupVersion);
  expect(bench.find(CONFIG_MAPS, 'a')).toBeUndefined();
  await eventually('an event', () =>
    bench.server.seen.some(
      ({ method, path }) => method === 'POST' && path === '/api/v1/namespaces/default/events',
    ),
  );
  bench.server.brokenGroupVersions.clear();
  await bench.until(() => namespaceNow() === undefined);
});

test('a refused deletion is reported and retried, and the other resources are emptied meanwhile', async () => {
  let refusals = 0;
  bench.server.fault = ({ method, path }) => {
    if (method !== 'DELETE' || !path.endsWith('/configmaps') || refusals >= 4) return undefined;
    refusals += 1;
    return new StatusError('Forbidden', 'not now');
  };
  bench.make(CONFIG_MAPS, 'a');
  bench.make(SERVICES, 's');
  start();
  await deleteNamespace();
  await bench.until(() => conditionNow('NamespaceDeletionContentFailure')?.status === 'True');
  expect(conditionNow('NamespaceDeletionContentFailure')?.message).toContain('not now');
  expect(bench.find(SERVICES, 's')).toBeUndefined();
  await bench.until(() => namespaceNow() === undefined);
  expect(refusals).toBe(4);
});

test('a type that vanishes between discovery and deletion is no failure', async () => {
  const gone = {
    ...CONFIG_MAPS,
    group: 'example.com',
    resource: 'widgets',
    kind: 'Widget',
    verbs: ALL_VERBS,
  };
  bench.server.resources = [...FAKE_RESOURCES, gone];
  bench.server.fault = ({ path }) =>
    path.endsWith('/widgets') ? new StatusError('NotFound', 'no such resource') : undefined;
  start();
  await deleteNamespace();
  await bench.until(() => namespaceNow() === undefined);
  expect(bench.server.seen.map(({ path }) => path)).toContainEqual(expect.stringContaining('/widgets'));
});

const CUSTOM_DEFINITIONS: FakeResource = {
  ...NAMESPACES,
  ...RESOURCE.customresourcedefinitions,
  kind: 'CustomResourceDefinition',
};
const CRON_TABS: FakeResource = {
  ...CONFIG_MAPS,
  group: 'example.com',
  resource: 'crontabs',
  kind: 'CronTab',
};

function define(name: string, established: string, served = true): void {
  const [, group] = /^[^.]*\.(.*)$/.exec(name) ?? [];
  bench.server.store.create(
    { resource: CUSTOM_DEFINITIONS, namespace: '', name },
    {
      metadata: { name },
      spec: { group, versions: [{ name: 'v1', served }] },
      status: { conditions: [{ type: 'Established', status: established }] },
    },
  );
}

test('a custom type that discovery does not list yet blocks the namespace until its objects were checked', async () => {
  const before = [...FAKE_RESOURCES, CUSTOM_DEFINITIONS];
  bench.server.resources = before;
  define('crontabs.example.com', 'True');
  bench.make(CRON_TABS, 'unseen');
  start();
  await deleteNamespace();
  await bench.until(() => conditionNow('NamespaceDeletionDiscoveryFailure')?.status === 'True');
  expect(conditionNow('NamespaceDeletionDiscoveryFailure')?.message).toContain(
    'example.com/v1: crontabs.example.com is not served everywhere yet',
  );
  bench.server.resources = [...before, CRON_TABS];
  await bench.until(() => namespaceNow() === undefined);
  expect(bench.server.store.list(CRON_TABS, TEST_NAMESPACE)).toEqual([]);
});

test('a custom type that was never served blocks nothing', async () => {
  bench.server.resources = [...FAKE_RESOURCES, CUSTOM_DEFINITIONS];
  define('waiting.example.com', 'False');
  define('hidden.example.com', 'True', false);
  start();
  await deleteNamespace();
  await bench.until(() => namespaceNow() === undefined);
  expect(bench.server.seen.map(({ path }) => path)).toContainEqual(
    expect.stringContaining('/customresourcedefinitions/hidden.example.com'),
  );
});

test('finalizers of others in the spec are kept, and ours is released once', async () => {
  const { store } = bench.server;
  const before = store.get(place);
  store.update(
    place,
    { metadata: {}, spec: { finalizers: [FINALIZER.namespaceContent, 'example.com/x'] } },
    'finalize',
  );
  expect(before.metadata.name).toBe(TEST_NAMESPACE);
  start();
  await deleteNamespace();
  await bench.until(() => namespaceNow()?.spec?.finalizers?.length === 1);
  expect(namespaceNow()?.spec?.finalizers).toEqual(['example.com/x']);
});

test('conflicts and broken connections are retried', async () => {
  for (let index = 0; index < 5; index += 1) bench.make(CONFIG_MAPS, `c${String(index)}`);
  let requests = 0;
  let nudges = 0;
  await deleteNamespace();
  bench.server.fault = ({ method, path }) => {
    requests += 1;
    if (method === 'PUT' && nudges < 3) {
      nudges += 1;
      const { metadata, ...rest } = bench.server.store.get(place);
      const { resourceVersion: _version, ...others } = metadata;
      const annotations = { nudges: String(nudges) };
      bench.server.store.update(place, { ...rest, metadata: { ...others, annotations } });
    }
    if (requests % 13 === 0) return 'cut';
    return method === 'DELETE' && requests % 7 === 0 && path.includes('configmaps') ? 'cutAfter' : undefined;
  };
  start();
  await bench.until(() => namespaceNow() === undefined);
  expect(bench.server.store.list(CONFIG_MAPS)).toEqual([]);
});
