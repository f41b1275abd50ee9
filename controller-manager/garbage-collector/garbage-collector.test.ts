import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  LEASES,
  NODES,
  PODS,
  REPLICA_SETS,
} from '../../shared/client/testing/fake-resources';
import { StatusError } from '../../shared/errors/status-error';
import { FINALIZER, GROUP } from '../../shared/names';
import type { Bench } from '../testing/bench';
import { TEST_NAMESPACE, createBench, ownedBy } from '../testing/bench';
import { runGarbageCollector } from './garbage-collector';

let bench: Bench;
beforeEach(async () => {
  bench = await createBench();
});
afterEach(async () => bench.close());

function start(timings: { readonly gapPatienceMs?: number } = {}): void {
  bench.run(async (context, signal) =>
    runGarbageCollector(context, signal, {
      settleMs: 10,
      discoveryPeriodMs: 50,
      discoveryPauseMs: 5,
      ...timings,
    }),
  );
}
const ref = (name: string) => ({ namespace: TEST_NAMESPACE, name });

test('an orphaning deletion keeps every dependent without its owner, and the owner is removed', async () => {
  const owner = bench.make(DEPLOYMENTS, 'd');
  const other = bench.make(CONFIG_MAPS, 'other');
  bench.make(REPLICA_SETS, 'r', { owners: [ownedBy(DEPLOYMENTS, owner)] });
  bench.make(PODS, 'p', { owners: [ownedBy(CONFIG_MAPS, other), ownedBy(DEPLOYMENTS, owner, false)] });
  start();
  await bench.client.delete(DEPLOYMENTS, ref('d'), { propagationPolicy: 'Orphan' });
  await bench.until(() => bench.find(DEPLOYMENTS, 'd') === undefined);
  expect(bench.find(REPLICA_SETS, 'r')?.metadata.ownerReferences).toBeUndefined();
  expect(bench.find(PODS, 'p')?.metadata.ownerReferences).toEqual([ownedBy(CONFIG_MAPS, other)]);
});

test('a foreground deletion deletes the dependents first, level by level', async () => {
  const owner = bench.make(DEPLOYMENTS, 'd');
  const middle = bench.make(REPLICA_SETS, 'r', { owners: [ownedBy(DEPLOYMENTS, owner)] });
  for (const name of ['p1', 'p2']) bench.make(PODS, name, { owners: [ownedBy(REPLICA_SETS, middle)] });
  const gone: string[] = [];
  const from = bench.server.store.events.length;
  start();
  await bench.client.delete(DEPLOYMENTS, ref('d'), { propagationPolicy: 'Foreground' });
  await bench.until(() => bench.find(DEPLOYMENTS, 'd') === undefined);
  for (const { before, after } of bench.server.store.events.slice(from)) {
    if (after === undefined) gone.push(before?.metadata.name ?? '');
  }
  expect(gone.slice(0, 2).toSorted()).toEqual(['p1', 'p2']);
  expect(gone.slice(2)).toEqual(['r', 'd']);
});

test('a dependent with another live owner stays and drops the terminating one', async () => {
  const owner = bench.make(DEPLOYMENTS, 'd');
  const keeper = bench.make(CONFIG_MAPS, 'keeper');
  const owners = [ownedBy(DEPLOYMENTS, owner), ownedBy(CONFIG_MAPS, keeper)];
  bench.make(PODS, 'shared', { owners });
  start();
  await bench.client.delete(DEPLOYMENTS, ref('d'), { propagationPolicy: 'Foreground' });
  await bench.until(() => bench.find(DEPLOYMENTS, 'd') === undefined);
  expect(bench.find(PODS, 'shared')?.metadata.ownerReferences).toEqual([ownedBy(CONFIG_MAPS, keeper)]);
});

test('a second owner that is absent does not keep the dependent', async () => {
  const owner = bench.make(DEPLOYMENTS, 'd');
  const recreated = bench.make(CONFIG_MAPS, 'recreated');
  const stale = { ...ownedBy(CONFIG_MAPS, recreated), uid: 'of-the-one-before' };
  bench.make(PODS, 'p', { owners: [ownedBy(DEPLOYMENTS, owner), stale] });
  start();
  await bench.client.delete(DEPLOYMENTS, ref('d'), { propagationPolicy: 'Foreground' });
  await bench.until(() => bench.find(DEPLOYMENTS, 'd') === undefined);
  expect(bench.find(PODS, 'p')).toBeUndefined();
});

test('a second owner of a kind that is not served keeps its dependent', async () => {
  const owner = bench.make(DEPLOYMENTS, 'd');
  const strange = { apiVersion: 'example.com/v1', kind: 'Strange', name: 's', uid: 'u' };
  bench.make(PODS, 'p', { owners: [ownedBy(DEPLOYMENTS, owner), strange] });
  start();
  await bench.client.delete(DEPLOYMENTS, ref('d'), { propagationPolicy: 'Foreground' });
  await bench.until(() => bench.find(DEPLOYMENTS, 'd') === undefined);
  expect(bench.find(PODS, 'p')?.metadata.ownerReferences).toEqual([strange]);
});

test('the owner waits for a blocking dependent that has a finalizer of its own', async () => {
  const owner = bench.make(DEPLOYMENTS, 'd');
  bench.make(PODS, 'held', { owners: [ownedBy(DEPLOYMENTS, owner)], finalizers: ['example.com/hold'] });
  bench.make(PODS, 'free', { owners: [ownedBy(DEPLOYMENTS, owner, false)] });
  start();
  await bench.client.delete(DEPLOYMENTS, ref('d'), { propagationPolicy: 'Foreground' });
  await bench.until(() => bench.find(PODS, 'held')?.metadata.deletionTimestamp !== undefined);
  await bench.until(() => bench.find(PODS, 'free') === undefined);
  expect(bench.find(DEPLOYMENTS, 'd')?.metadata.finalizers).toEqual([FINALIZER.foregroundDeletion]);
  const held = bench.find(PODS, 'held');
  await bench.client.update(PODS, { ...held, metadata: { ...held?.metadata, finalizers: [] } });
  await bench.until(() => bench.find(DEPLOYMENTS, 'd') === undefined);
});

test('objects that own each other do not block each other', async () => {
  const { store } = bench.server;
  const a = bench.make(DEPLOYMENTS, 'a');
  const b = bench.make(REPLICA_SETS, 'b', { owners: [ownedBy(DEPLOYMENTS, a)] });
  const owners = [ownedBy(REPLICA_SETS, b), ownedBy(DEPLOYMENTS, a)];
  store.update(
    { resource: DEPLOYMENTS, ...ref('a') },
    { metadata: { name: 'a', namespace: TEST_NAMESPACE, ownerReferences: owners } },
  );
  start();
  await bench.client.delete(DEPLOYMENTS, ref('a'), { propagationPolicy: 'Foreground' });
  await bench.until(() => bench.find(DEPLOYMENTS, 'a') === undefined);
  expect(bench.find(REPLICA_SETS, 'b')).toBeUndefined();
});

test('a cluster-scoped owner owns in every namespace, a namespaced one in its own only', async () => {
  const { store } = bench.server;
  const node = bench.make(NODES, 'n');
  const owner = bench.make(DEPLOYMENTS, 'd');
  store.create(
    {
      resource: NODES,
      namespace: '',
      name: 'unrelated',
    },
    { metadata: { ownerReferences: [ownedBy(DEPLOYMENTS, owner)] } },
  );
  bench.make(PODS, 'p', { owners: [ownedBy(NODES, node)] });
  start();
  await bench.client.delete(DEPLOYMENTS, ref('d'), { propagationPolicy: 'Foreground' });
  await bench.client.delete(NODES, { name: 'n' }, { propagationPolicy: 'Foreground' });
  await bench.until(() => bench.find(NODES, 'n') === undefined && bench.find(DEPLOYMENTS, 'd') === undefined);
  expect(bench.find(PODS, 'p')).toBeUndefined();
  expect(bench.find(NODES, 'unrelated')).toBeDefined();
});

test('while a group does not answer discovery, orphaning waits only until its limit and orphans late dependents', async () => {
  const groupVersion = `${GROUP.coordination}/v1`;
  const events = { ...CONFIG_MAPS, resource: 'events', kind: 'Event' };
  bench.server.resources = [...bench.server.resources, events];
  bench.server.brokenGroupVersions.add(groupVersion);
  const owner = bench.make(DEPLOYMENTS, 'd');
  bench.make(REPLICA_SETS, 'r', { owners: [ownedBy(DEPLOYMENTS, owner)] });
  bench.make(LEASES, 'l', { owners: [ownedBy(DEPLOYMENTS, owner)] });
  start({ gapPatienceMs: 20 });
  await bench.client.delete(DEPLOYMENTS, ref('d'), { propagationPolicy: 'Orphan' });
  await bench.until(() => bench.find(DEPLOYMENTS, 'd') === undefined);
  expect(bench.find(REPLICA_SETS, 'r')?.metadata.ownerReferences).toBeUndefined();
  expect(bench.server.store.list(events)).toMatchObject([
    {
      involvedObject: { kind: 'Deployment', name: 'd', uid: owner.metadata.uid },
      reason: 'DependentsSkipped',
      message: `deleted without dependents that cannot be listed: ${groupVersion}; they are orphaned once they can be listed, unless the controller-manager has restarted by then`,
    },
  ]);
  expect(bench.find(LEASES, 'l')?.metadata.ownerReferences).toHaveLength(1);
  bench.server.brokenGroupVersions.clear();
  await bench.until(() => bench.find(LEASES, 'l')?.metadata.ownerReferences === undefined);
  expect(bench.find(LEASES, 'l')).toBeDefined();
});

test('an owner waits for a known dependent that does not answer, orphans the others, and an event says so', async () => {
  const events = { ...CONFIG_MAPS, resource: 'events', kind: 'Event' };
  bench.server.resources = [...bench.server.resources, events];
  const groupVersion = `${GROUP.coordination}/v1`;
  const owners = [ownedBy(DEPLOYMENTS, bench.make(DEPLOYMENTS, 'd'))];
  bench.make(LEASES, 'l', { owners });
  bench.make(REPLICA_SETS, 'r', { owners });
  start({ gapPatienceMs: 20 });
  while (!bench.server.seen.some(({ path, query }) => path.endsWith('/leases') && query.has('watch'))) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  bench.server.brokenGroupVersions.add(groupVersion);
  bench.server.fault = ({ path }) =>
    path.endsWith('/leases/l') ? new StatusError('ServiceUnavailable', 'no endpoints') : undefined;
  const asked = (): number => bench.server.seen.filter(({ path }) => path === `/apis/${groupVersion}`).length;
  const before = asked();
  while (asked() < before + 3) await new Promise((resolve) => setTimeout(resolve, 5));
  await bench.client.delete(DEPLOYMENTS, ref('d'), { propagationPolicy: 'Orphan' });
  await bench.until(() => bench.server.store.list(events).length > 0);
  expect(bench.server.store.list(events)).toMatchObject([
    {
      reason: 'DependentsUnavailable',
      message: `waits for dependents of resources that do not answer: ${groupVersion}`,
    },
  ]);
  await bench.until(() => bench.find(REPLICA_SETS, 'r')?.metadata.ownerReferences === undefined);
  expect(bench.find(DEPLOYMENTS, 'd')).toBeDefined();
  bench.server.brokenGroupVersions.clear();
  bench.server.fault = () => undefined;
  await bench.until(() => bench.find(DEPLOYMENTS, 'd') === undefined);
  expect(bench.find(LEASES, 'l')?.metadata.ownerReferences).toBeUndefined();
});

test('a foreground deletion continues after its limit without resources that cannot be discovered or listed', async () => {
  const groupVersion = `${GROUP.coordination}/v1`;
  bench.server.brokenGroupVersions.add(groupVersion);
  bench.server.fault = ({ path }) =>
    path.endsWith('/configmaps') ? new StatusError('InternalError', 'no conversion') : undefined;
  const owner = bench.make(DEPLOYMENTS, 'd');
  bench.make(REPLICA_SETS, 'r', { owners: [ownedBy(DEPLOYMENTS, owner)] });
  bench.run(async (context, signal) =>
    runGarbageCollector(context, signal, { settleMs: 10, listedWithinMs: 10, gapPatienceMs: 20 }),
  );
  await bench.client.delete(DEPLOYMENTS, ref('d'), { propagationPolicy: 'Foreground' });
  await bench.until(() => bench.find(DEPLOYMENTS, 'd') === undefined);
  expect(bench.find(REPLICA_SETS, 'r')).toBeUndefined();
});

test('a foreground deletion waits for a broken watch only until its limit, however often discovery is repeated', async () => {
  bench.make(DEPLOYMENTS, 'd');
  start({ gapPatienceMs: 200 });
  while (!bench.server.seen.some(({ path, query }) => path.endsWith('/configmaps') && query.has('watch'))) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  bench.server.fault = ({ path }) =>
    path.endsWith('/configmaps') ? new StatusError('InternalError', 'no conversion') : undefined;
  bench.server.cutConnections();
  await bench.client.delete(DEPLOYMENTS, ref('d'), { propagationPolicy: 'Foreground' });
  await bench.until(() => bench.find(DEPLOYMENTS, 'd') === undefined);
  expect(bench.find(DEPLOYMENTS, 'd')).toBeUndefined();
});

test('a foreground deletion waits for dependents that can be listed again in time', async () => {
  const groupVersion = `${GROUP.coordination}/v1`;
  bench.server.brokenGroupVersions.add(groupVersion);
  bench.make(DEPLOYMENTS, 'd');
  start();
  await bench.client.delete(DEPLOYMENTS, ref('d'), { propagationPolicy: 'Foreground' });
  const asked = (): number => bench.server.seen.filter(({ path }) => path === `/apis/${groupVersion}`).length;
  while (asked() < 4) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(bench.find(DEPLOYMENTS, 'd')).toBeDefined();
  bench.server.brokenGroupVersions.clear();
  await bench.until(() => bench.find(DEPLOYMENTS, 'd') === undefined);
});

test('a resource that is served later is found by the next discovery', async () => {
  const widgets = { ...CONFIG_MAPS, group: 'example.com', resource: 'widgets', kind: 'Widget' };
  const before = bench.server.resources;
  start();
  while (bench.server.watchCount() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  bench.server.resources = [...before, widgets];
  const owner = bench.make(DEPLOYMENTS, 'd');
  bench.make(widgets, 'w', { owners: [ownedBy(DEPLOYMENTS, owner)] });
  while (!bench.server.seen.some(({ path, query }) => path.endsWith('/widgets') && query.has('watch'))) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await bench.client.delete(DEPLOYMENTS, ref('d'), { propagationPolicy: 'Foreground' });
  await bench.until(() => bench.find(DEPLOYMENTS, 'd') === undefined);
  expect(bench.find(widgets, 'w')).toBeUndefined();
});

test('conflicts, cut watches and unknown outcomes are retried', async () => {
  const owner = bench.make(DEPLOYMENTS, 'd');
  for (let index = 0; index < 20; index += 1) {
    bench.make(index % 2 === 0 ? PODS : CONFIG_MAPS, `x${String(index)}`, {
      owners: [ownedBy(DEPLOYMENTS, owner)],
    });
  }
  let writes = 0;
  bench.server.fault = ({ method }) => {
    if (method !== 'PATCH') return undefined;
    writes += 1;
    if (writes === 3) setImmediate(() => bench.server.cutConnections());
    if (writes % 5 !== 0) return undefined;
    return writes % 2 === 0 ? 'cut' : 'cutAfter';
  };
  start();
  await bench.client.delete(DEPLOYMENTS, ref('d'), { propagationPolicy: 'Orphan' });
  await bench.until(() => bench.find(DEPLOYMENTS, 'd') === undefined);
  const left = [...bench.server.store.list(PODS), ...bench.server.store.list(CONFIG_MAPS)];
  expect(left).toHaveLength(20);
  expect(left.filter(({ metadata }) => metadata.ownerReferences !== undefined)).toEqual([]);
});
