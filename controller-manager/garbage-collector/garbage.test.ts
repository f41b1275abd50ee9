import type { FakeResource } from '../../shared/client/testing/fake-resources';
import {
  ALL_VERBS,
  CONFIG_MAPS,
  DEPLOYMENTS,
  NAMESPACES,
  NODES,
  PODS,
  REPLICA_SETS,
} from '../../shared/client/testing/fake-resources';
import { StatusError, notFound } from '../../shared/errors/status-error';
import type { ApiObject, OwnerReference } from '../../shared/object/object';
import { FINALIZER, GROUP } from '../../shared/names';
import type { Bench } from '../testing/bench';
import { TEST_NAMESPACE, createBench, ownedBy } from '../testing/bench';
import type { CollectorTimings } from './garbage-collector';
import { runGarbageCollector } from './garbage-collector';

const EVENTS: FakeResource = {
  group: GROUP.core,
  version: 'v1',
  resource: 'events',
  kind: 'Event',
  namespaced: true,
  verbs: ALL_VERBS,
};
const DEFINITIONS: FakeResource = {
  ...EVENTS,
  group: GROUP.apiextensions,
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
const WIDGETS: FakeResource = { ...EVENTS, group: 'example.com', resource: 'widgets', kind: 'Widget' };
const BETA_WIDGETS: FakeResource = { ...WIDGETS, version: 'v1beta1' };
const TIMINGS = {
  settleMs: 10,
  discoveryPeriodMs: 50,
  discoveryPauseMs: 5,
  retryMs: 20,
  listedWithinMs: 5_000,
};

let bench: Bench;
beforeEach(async () => {
  bench = await createBench();
  bench.server.resources = [...bench.server.resources, EVENTS];
  for (const name of ['other', 'default']) {
    bench.server.store.create({ resource: NAMESPACES, namespace: '', name }, { metadata: { name } });
  }
});
afterEach(async () => bench.close());

function start(timings: Partial<CollectorTimings> = {}): void {
  bench.run(async (context, signal) => runGarbageCollector(context, signal, { ...TIMINGS, ...timings }));
}

const ref = (name: string) => ({ namespace: TEST_NAMESPACE, name });
const gone = (resource: FakeResource, name: string): boolean => bench.find(resource, name) === undefined;
const expectGone = async (resource: FakeResource, ...names: readonly string[]): Promise<void> =>
  bench.until(() => names.every((name) => gone(resource, name)));
const background = async (resource: FakeResource, name: string): Promise<void> => {
  await bench.client.delete(resource, ref(name), { propagationPolicy: 'Background' });
};
const found = (resource: FakeResource, namespace: string, name: string): ApiObject | undefined =>
  bench.server.store.find({ resource, namespace, name });
const put = (resource: FakeResource, namespace: string, name: string, owners: readonly OwnerReference[]) =>
  bench.server.store.create({ resource, namespace, name }, { metadata: { ownerReferences: owners } });
const asked = (method: string, end: string): number =>
  bench.server.seen.filter((each) => each.method === method && each.path.endsWith(end)).length;
const isWatched = (resource: FakeResource): boolean =>
  bench.server.seen.some(({ path, query }) => path.endsWith(`/${resource.resource}`) && query.has('watch'));

/** Resolves once a discovery requested after this call has been applied. */
async function discoveredAgain(): Promise<void> {
  const before = asked('GET', '/apis');
  await eventually(() => asked('GET', '/apis') >= before + 2);
}

/** Polls for conditions that the store does not report. */
async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

function invalidOwnerEvents(namespace: string): ApiObject[] {
  return bench.server.store
    .list(EVENTS, namespace)
    .filter(({ reason }) => reason === 'OwnerRefInvalidNamespace');
}

test('dependents of an absent owner are deleted level by level, and nothing else is', async () => {
  const owner = bench.make(DEPLOYMENTS, 'd');
  const middle = bench.make(REPLICA_SETS, 'r', { owners: [ownedBy(DEPLOYMENTS, owner)] });
  for (const name of ['p1', 'p2']) bench.make(PODS, name, { owners: [ownedBy(REPLICA_SETS, middle)] });
  const other = bench.make(REPLICA_SETS, 'other');
  bench.make(PODS, 'p3', { owners: [ownedBy(REPLICA_SETS, other)] });
  bench.make(PODS, 'p4');
  start();
  await eventually(() => isWatched(PODS));
  await background(DEPLOYMENTS, 'd');
  await bench.until(() => gone(REPLICA_SETS, 'r') && gone(PODS, 'p1') && gone(PODS, 'p2'));
  const ends = bench.server.store.events.filter(({ after }) => after === undefined);
  expect(ends.map(({ before }) => before?.metadata.name).slice(0, 2)).toEqual(['d', 'r']);
  expect(bench.find(PODS, 'p3')).toBeDefined();
  expect(bench.find(PODS, 'p4')).toBeDefined();
});

test('a chain of 150 owners is deleted to its end', async () => {
  const root = bench.make(DEPLOYMENTS, 'root');
  let owner = ownedBy(DEPLOYMENTS, root);
  for (let at = 0; at < 150; at += 1)
    owner = ownedBy(CONFIG_MAPS, bench.make(CONFIG_MAPS, `c${String(at)}`, { owners: [owner] }));
  start();
  await background(DEPLOYMENTS, 'root');
  await expectGone(CONFIG_MAPS, 'c149');
  expect(bench.server.store.list(CONFIG_MAPS, TEST_NAMESPACE)).toEqual([]);
});

test('deletions during a watch outage are made up for, and existing owners are not queried', async () => {
  const owner = bench.make(DEPLOYMENTS, 'd');
  const middle = bench.make(REPLICA_SETS, 'stays', { owners: [ownedBy(DEPLOYMENTS, owner)] });
  bench.make(PODS, 'left', { owners: [ownedBy(REPLICA_SETS, bench.make(REPLICA_SETS, 'went'))] });
  bench.make(PODS, 'kept', { owners: [ownedBy(REPLICA_SETS, middle)] });
  await background(REPLICA_SETS, 'went');
  start();
  await expectGone(PODS, 'left');
  expect(bench.find(PODS, 'kept')).toBeDefined();
  expect(asked('GET', '/replicasets/stays')).toBe(0);
  expect(asked('GET', '/deployments/d')).toBe(0);
});

test('a recreated owner has a new uid: the dependents of the old one are deleted', async () => {
  const before = bench.make(REPLICA_SETS, 'r');
  bench.make(PODS, 'old', { owners: [ownedBy(REPLICA_SETS, before)] });
  start();
  await eventually(() => isWatched(PODS));
  await background(REPLICA_SETS, 'r');
  const after = bench.make(REPLICA_SETS, 'r');
  bench.make(PODS, 'new', { owners: [ownedBy(REPLICA_SETS, after)] });
  await expectGone(PODS, 'old');
  expect(bench.find(PODS, 'new')).toBeDefined();
});

test('a dependent that is created after its owner was deleted is deleted too', async () => {
  const owner = bench.make(REPLICA_SETS, 'r');
  start();
  await eventually(() => isWatched(PODS));
  await background(REPLICA_SETS, 'r');
  bench.make(PODS, 'late', { owners: [ownedBy(REPLICA_SETS, owner)] });
  await expectGone(PODS, 'late');
});

test('an object that gets an absent owner is deleted', async () => {
  const owner = bench.make(REPLICA_SETS, 'r');
  await background(REPLICA_SETS, 'r');
  bench.make(PODS, 'p');
  start();
  await eventually(() => isWatched(PODS));
  await bench.client.patch(PODS, ref('p'), {
    contentType: 'application/merge-patch+json',
    body: { metadata: { ownerReferences: [ownedBy(REPLICA_SETS, owner)] } },
  });
  await expectGone(PODS, 'p');
});

test('a dependent with a live owner stays and drops the absent one', async () => {
  const [owner, keeper] = [bench.make(REPLICA_SETS, 'r'), bench.make(CONFIG_MAPS, 'keeper')];
  bench.make(PODS, 'p', { owners: [ownedBy(REPLICA_SETS, owner), ownedBy(CONFIG_MAPS, keeper)] });
  start();
  await eventually(() => isWatched(PODS));
  await background(REPLICA_SETS, 'r');
  await bench.until(() => bench.find(PODS, 'p')?.metadata.ownerReferences?.length === 1);
  expect(bench.find(PODS, 'p')?.metadata.ownerReferences).toEqual([ownedBy(CONFIG_MAPS, keeper)]);
});

test('a dependent with an orphan finalizer is deleted without its own dependents', async () => {
  const owner = bench.make(DEPLOYMENTS, 'd');
  const middle = bench.make(REPLICA_SETS, 'r', {
    owners: [ownedBy(DEPLOYMENTS, owner)],
    finalizers: [FINALIZER.orphan],
  });
  bench.make(PODS, 'p', { owners: [ownedBy(REPLICA_SETS, middle)] });
  start();
  await eventually(() => isWatched(PODS));
  await background(DEPLOYMENTS, 'd');
  await expectGone(REPLICA_SETS, 'r');
  expect(bench.find(PODS, 'p')?.metadata.ownerReferences).toBeUndefined();
});

test.each(['set free', 'adopted by another'])(
  'a dependent that is %s between the check and its deletion stays',
  async (how) => {
    const keeper = ownedBy(CONFIG_MAPS, bench.make(CONFIG_MAPS, 'keeper'));
    const owners = [ownedBy(REPLICA_SETS, bench.make(REPLICA_SETS, 'r'))];
    bench.make(PODS, 'p', { owners });
    let deletions = 0;
    bench.server.fault = ({ method, path }) => {
      if (method !== 'DELETE' || !path.endsWith('/pods/p')) return undefined;
      deletions += 1;
      const metadata = { ...ref('p'), ownerReferences: how === 'set free' ? [] : [keeper] };
      bench.server.store.update({ resource: PODS, ...ref('p') }, { metadata });
      return undefined;
    };
    start();
    await eventually(() => isWatched(PODS));
    await background(REPLICA_SETS, 'r');
    await bench.until(() => deletions === 1);
    bench.make(PODS, 'control', { owners });
    await expectGone(PODS, 'control');
    expect([bench.find(PODS, 'p') !== undefined, deletions]).toEqual([true, 1]);
  },
);

test.each([
  ['whose deletion was missed is queried once', 1],
  ['that was seen to go is not asked for', 0],
])('an owner of many %s', async (_what, asks) => {
  const owner = bench.make(REPLICA_SETS, 'r');
  const names = Array.from({ length: 30 }, (_, index) => `p${String(index)}`);
  for (const name of names) bench.make(PODS, name, { owners: [ownedBy(REPLICA_SETS, owner)] });
  if (asks > 0) await background(REPLICA_SETS, 'r');
  start();
  await eventually(() => isWatched(PODS) && isWatched(REPLICA_SETS));
  if (asks === 0) await background(REPLICA_SETS, 'r');
  await expectGone(PODS, ...names);
  expect(asked('GET', '/replicasets/r')).toBe(asks);
});

test('an owner that a list omits is queried', async () => {
  bench.make(PODS, 'p', { owners: [ownedBy(REPLICA_SETS, bench.make(REPLICA_SETS, 'r'))] });
  start();
  await eventually(() => isWatched(PODS) && isWatched(REPLICA_SETS));
  const { store } = bench.server;
  const listAt = store.listAt.bind(store);
  store.listAt = (resource, revision) => (resource === REPLICA_SETS ? [] : listAt(resource, revision));
  bench.server.expireWatches();
  await eventually(() => asked('GET', '/replicasets/r') > 0);
  bench.make(PODS, 'control', { owners: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'u' }] });
  await expectGone(PODS, 'control');
  expect(bench.find(PODS, 'p')).toBeDefined();
});

test('objects deleted together with their definition leave no dependents', async () => {
  const before = bench.server.resources;
  bench.server.resources = [...before, WIDGETS];
  const owners = ['w1', 'w2'].map((name) => ownedBy(WIDGETS, bench.make(WIDGETS, name)));
  for (const { name, ...owner } of owners) bench.make(PODS, `of-${name}`, { owners: [{ ...owner, name }] });
  start();
  await eventually(() => isWatched(WIDGETS) && isWatched(PODS));
  // The resource is no longer served when the dependents are checked.
  bench.server.resources = before;
  for (const { name } of owners) bench.server.store.delete({ resource: WIDGETS, ...ref(name) }, {});
  await expectGone(PODS, 'of-w1', 'of-w2');
});

test('an owner in another namespace counts as absent and is reported by an event; its valid dependents stay', async () => {
  const owner = bench.make(REPLICA_SETS, 'r');
  const reference = ownedBy(REPLICA_SETS, owner);
  put(PODS, 'other', 'foreign', [reference]);
  put(PODS, TEST_NAMESPACE, 'own', [reference]);
  start();
  await bench.until(() => found(PODS, 'other', 'foreign') === undefined);
  expect(bench.find(PODS, 'own')).toBeDefined();
  expect(invalidOwnerEvents('other')).toMatchObject([
    {
      type: 'Warning',
      message: `ownerRef [apps/v1/ReplicaSet, namespace: other, name: r, uid: ${reference.uid}] does not exist in namespace "other"`,
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'other', name: 'foreign' },
      source: { component: 'garbage-collector-controller' },
    },
  ]);
  put(PODS, 'other', 'foreign-too', [reference]);
  await bench.until(() => found(PODS, 'other', 'foreign-too') === undefined);
  // Absence in another namespace says nothing about the owner's own namespace.
  await background(REPLICA_SETS, 'r');
  await expectGone(PODS, 'own');
});

test('a cluster-scoped object with a namespaced owner stays, and an event reports it', async () => {
  const owner = bench.make(REPLICA_SETS, 'r');
  const never = { ...ownedBy(REPLICA_SETS, owner), name: 'never', uid: 'never-there' };
  put(NODES, '', 'n1', [ownedBy(REPLICA_SETS, owner)]);
  put(NODES, '', 'n2', [never]);
  start();
  await bench.until(() => invalidOwnerEvents('default').length === 2);
  await background(REPLICA_SETS, 'r');
  bench.make(PODS, 'p', { owners: [ownedBy(REPLICA_SETS, owner)] });
  await expectGone(PODS, 'p');
  expect([found(NODES, '', 'n1'), found(NODES, '', 'n2')]).toEqual([expect.anything(), expect.anything()]);
});

test('one uid is absent under the wrong name and present under the right one', async () => {
  const owner = bench.make(REPLICA_SETS, 'r');
  const right = ownedBy(REPLICA_SETS, owner);
  bench.make(PODS, 'right', { owners: [right] });
  bench.make(PODS, 'wrong', { owners: [{ ...right, name: 'q' }] });
  bench.make(PODS, 'both', { owners: [{ ...right, name: 'q' }, right] });
  start();
  await expectGone(PODS, 'wrong');
  expect([bench.find(PODS, 'right'), bench.find(PODS, 'both')]).toEqual([
    expect.anything(),
    expect.anything(),
  ]);
});

test("a foreground deletion looks for the other owners of a dependent in the dependent's own namespace", async () => {
  const node = put(NODES, '', 'n', []);
  const keeper = put(CONFIG_MAPS, TEST_NAMESPACE, 'keeper', []);
  const owners = [ownedBy(NODES, node), ownedBy(CONFIG_MAPS, keeper)];
  put(PODS, 'other', 'stray', owners);
  put(PODS, TEST_NAMESPACE, 'kept', owners);
  await bench.client.delete(NODES, { name: 'n' }, { propagationPolicy: 'Foreground' });
  start();
  const isOver = (): boolean => !found(NODES, '', 'n') && !found(PODS, 'other', 'stray');
  await bench.until(isOver);
  expect(bench.find(PODS, 'kept')?.metadata.ownerReferences).toEqual([ownedBy(CONFIG_MAPS, keeper)]);
});

test('an owner of a kind that is not served keeps its dependents until it is served and the owner is absent', async () => {
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: 'w-uid' };
  const uidOfAnother = bench.make(CONFIG_MAPS, 'c').metadata.uid ?? '';
  bench.make(PODS, 'p', { owners: [widget] });
  bench.make(PODS, 'q', { owners: [{ ...widget, uid: uidOfAnother }] });
  bench.make(PODS, 'control', { owners: [{ ...widget, apiVersion: 'apps/v1', kind: 'Deployment' }] });
  start();
  await expectGone(PODS, 'control');
  await discoveredAgain();
  expect([gone(PODS, 'p'), gone(PODS, 'q')]).toEqual([false, false]);
  bench.server.resources = [...bench.server.resources, WIDGETS];
  await expectGone(PODS, 'p', 'q');
});

test.each([
  ['long after the last discovery', 5],
  ['just after the last discovery', 200],
])('a definition that comes or goes %s is noticed at once', async (_when, discoveryPauseMs) => {
  const before = [...bench.server.resources, DEFINITIONS];
  bench.server.resources = before;
  start({ discoveryPeriodMs: 3_600_000, discoveryPauseMs });
  await eventually(() => isWatched(DEFINITIONS));
  bench.server.resources = [...before, WIDGETS];
  bench.make(PODS, 'p', { owners: [ownedBy(WIDGETS, bench.make(WIDGETS, 'w'))] });
  put(DEFINITIONS, '', 'widgets.example.com', []);
  await eventually(() => isWatched(WIDGETS));
  bench.server.resources = before;
  await bench.client.delete(DEFINITIONS, { name: 'widgets.example.com' });
  // One watch for each resource except events.
  await eventually(() => bench.server.watchCount() === before.length - 1);
  const absent = { apiVersion: 'v1', kind: 'ConfigMap', name: 'absent', uid: 'u' };
  bench.make(PODS, 'control', { owners: [absent] });
  await expectGone(PODS, 'control');
  expect(bench.find(PODS, 'p')).toBeDefined();
  // The deletion of an object whose resource is no longer served causes no event.
  bench.server.store.delete({ resource: WIDGETS, ...ref('w') }, {});
  bench.server.resources = [...before, WIDGETS];
  put(DEFINITIONS, '', 'widgets.example.com', []);
  await expectGone(PODS, 'p');
});

test('a 404 that does not name the owner causes no deletion', async () => {
  const owner = bench.make(REPLICA_SETS, 'r');
  bench.make(PODS, 'p', { owners: [ownedBy(REPLICA_SETS, owner)] });
  const answers = [
    new StatusError('NotFound', 'the server could not find the requested resource'),
    new StatusError('InternalError', 'broken'),
    'cut',
    new StatusError('Forbidden', 'not now'),
  ] as const;
  let asks = 0;
  bench.server.fault = ({ method, path }) => {
    if (method !== 'GET' || !path.endsWith('/replicasets/r')) return undefined;
    asks += 1;
    return answers[asks - 1];
  };
  await background(REPLICA_SETS, 'r');
  start();
  await expectGone(PODS, 'p');
  expect(asks).toBeGreaterThan(answers.length);
});

test('a response that is another object causes no deletion', async () => {
  const absent = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'u' };
  // A request with an empty name would be a list.
  bench.make(PODS, 'p', { owners: [{ ...absent, name: '', uid: 'of-what-has-no-name' }] });
  bench.make(PODS, 'control', { owners: [absent] });
  start();
  await expectGone(PODS, 'control');
  await eventually(() => gone(PODS, 'p') || asked('GET', '/configmaps') >= 5);
  expect(bench.find(PODS, 'p')).toBeDefined();
});

test('nothing is deleted before everything is listed', async () => {
  bench.make(PODS, 'p', { owners: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u' }] });
  let tries = 0;
  bench.server.fault = ({ path }) => {
    if (!path.endsWith('/configmaps')) return undefined;
    tries += 1;
    return tries < 3 ? new StatusError('InternalError', 'not yet') : undefined;
  };
  start();
  await expectGone(PODS, 'p');
  expect(tries).toBeGreaterThanOrEqual(3);
});

test('a resource that cannot be listed delays the start only for a limited time', async () => {
  bench.make(PODS, 'p', { owners: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u' }] });
  bench.server.fault = ({ path }) =>
    path.endsWith('/configmaps') ? new StatusError('InternalError', 'no conversion') : undefined;
  start({ listedWithinMs: 50 });
  await expectGone(PODS, 'p');
});

test('a group that does not answer discovery blocks only what it owns', async () => {
  const groupVersion = `${GROUP.apps}/v1`;
  bench.server.brokenGroupVersions.add(groupVersion);
  const owner = bench.make(REPLICA_SETS, 'r');
  const absent = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'u' };
  bench.make(PODS, 'p', { owners: [ownedBy(REPLICA_SETS, owner)] });
  bench.make(PODS, 'left', { owners: [absent] });
  start();
  await expectGone(PODS, 'left');
  bench.server.store.delete({ resource: REPLICA_SETS, ...ref('r') }, {});
  await discoveredAgain();
  expect(bench.find(PODS, 'p')).toBeDefined();
  bench.server.brokenGroupVersions.clear();
  await expectGone(PODS, 'p');
});

test("an owner whose version does not answer is not looked up in another version, which may be another server's", async () => {
  bench.server.resources = [...bench.server.resources, WIDGETS, BETA_WIDGETS];
  bench.server.brokenGroupVersions.add('example.com/v1');
  bench.server.fault = ({ path }) =>
    path.endsWith('/v1beta1/namespaces/team/widgets/w') ? notFound(BETA_WIDGETS, 'w') : undefined;
  bench.make(PODS, 'p', { owners: [ownedBy(WIDGETS, bench.make(WIDGETS, 'w'))] });
  bench.make(PODS, 'control', { owners: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'u' }] });
  start();
  await expectGone(PODS, 'control');
  await discoveredAgain();
  expect(bench.find(PODS, 'p')).toBeDefined();
});

test('a version that does not answer for a while removes nothing that another version serves', async () => {
  const { server } = bench;
  server.resources = [...server.resources, WIDGETS, BETA_WIDGETS];
  const listAt = server.store.listAt.bind(server.store);
  server.store.listAt = (resource, revision) =>
    listAt(resource === BETA_WIDGETS ? WIDGETS : resource, revision);
  const owners = [ownedBy(WIDGETS, bench.make(WIDGETS, 'w'))];
  bench.make(PODS, 'p', { owners, finalizers: ['example.com/held'] });
  start();
  await eventually(() => isWatched(PODS) && isWatched(WIDGETS));
  await bench.client.delete(WIDGETS, ref('w'), { propagationPolicy: 'Foreground' });
  await bench.until(() => bench.find(PODS, 'p')?.metadata.deletionTimestamp !== undefined);
  server.brokenGroupVersions.add('example.com/v1');
  await discoveredAgain();
  server.brokenGroupVersions.clear();
  await discoveredAgain();
  server.store.update({ resource: PODS, ...ref('p') }, { metadata: { ...ref('p'), finalizers: [] } });
  await expectGone(WIDGETS, 'w');
});

test('orphaning includes resources that have just been defined', async () => {
  bench.server.resources = [...bench.server.resources, DEFINITIONS];
  const owner = bench.make(REPLICA_SETS, 'r');
  start({ settleMs: 100, discoveryPeriodMs: 3_600_000, discoveryPauseMs: 400 });
  await eventually(() => isWatched(DEFINITIONS) && isWatched(REPLICA_SETS));
  bench.server.resources = [...bench.server.resources, WIDGETS];
  bench.make(WIDGETS, 'w', { owners: [ownedBy(REPLICA_SETS, owner)] });
  put(DEFINITIONS, '', 'widgets.example.com', []);
  await bench.client.delete(REPLICA_SETS, ref('r'), { propagationPolicy: 'Orphan' });
  await expectGone(REPLICA_SETS, 'r');
  const orphan = bench.find(WIDGETS, 'w');
  expect([orphan?.metadata.name, orphan?.metadata.ownerReferences]).toEqual(['w', undefined]);
});

test('finalizers do not wait for definitions to stop changing', async () => {
  bench.server.resources = [...bench.server.resources, DEFINITIONS];
  bench.make(REPLICA_SETS, 'r');
  const place = { resource: DEFINITIONS, namespace: '', name: 'widgets.example.com' };
  put(DEFINITIONS, '', place.name, []);
  let changes = 0;
  const changing = setInterval(() => {
    changes += 1;
    bench.server.store.update(place, {
      metadata: { name: place.name, labels: { changes: String(changes) } },
    });
  }, 2);
  try {
    start({ discoveryPauseMs: 50 });
    await eventually(() => isWatched(DEFINITIONS) && isWatched(REPLICA_SETS));
    await bench.client.delete(REPLICA_SETS, ref('r'), { propagationPolicy: 'Orphan' });
    await expectGone(REPLICA_SETS, 'r');
    expect(changes).toBeGreaterThan(0);
  } finally {
    clearInterval(changing);
  }
});

test('conflicts, cut watches and unknown outcomes are retried', async () => {
  const owner = bench.make(REPLICA_SETS, 'r');
  const names = Array.from({ length: 20 }, (_, index) => `p${String(index)}`);
  for (const name of names) bench.make(PODS, name, { owners: [ownedBy(REPLICA_SETS, owner)] });
  let deletions = 0;
  bench.server.fault = ({ method }) => {
    if (method !== 'DELETE') return undefined;
    deletions += 1;
    if (deletions === 3) setImmediate(() => bench.server.cutConnections());
    if (deletions % 5 !== 0) return undefined;
    return deletions % 2 === 0 ? 'cut' : 'cutAfter';
  };
  start();
  await eventually(() => isWatched(PODS));
  await background(REPLICA_SETS, 'r');
  await expectGone(PODS, ...names);
});
