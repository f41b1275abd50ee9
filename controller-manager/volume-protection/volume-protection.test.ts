import { ATTRIBUTES_CLASSES, CLAIMS, PODS, VOLUMES } from '../../shared/client/testing/fake-resources';
import { FINALIZER } from '../../shared/names';
import type { Bench } from '../testing/bench';
import { TEST_NAMESPACE, createBench } from '../testing/bench';
import { runClaimProtection } from './claim-protection';
import { runClassProtection } from './class-protection';
import { isUsing, podOf } from './storage-objects';
import { runVolumeProtection } from './volume-protection';

let bench: Bench;
beforeEach(async () => {
  bench = await createBench();
});
afterEach(async () => bench.close());

const namespace = TEST_NAMESPACE;
const podWith = (claimName: string, nodeName?: string) => ({
  spec: {
    ...(nodeName === undefined ? {} : { nodeName }),
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
  },
});

describe('a claim', () => {
  const finalizers = [FINALIZER.claimProtection];
  const claimNow = (name: string) => bench.find(CLAIMS, name);

  test('without a pod is removed when it is deleted', async () => {
    bench.make(CLAIMS, 'c', { finalizers });
    bench.run(runClaimProtection);
    await bench.client.delete(CLAIMS, { namespace, name: 'c' });
    await bench.until(() => claimNow('c') === undefined);
    expect(claimNow('c')).toBeUndefined();
  });

  test('of a running pod stays until the pod is deleted', async () => {
    bench.make(CLAIMS, 'used', { finalizers });
    bench.make(CLAIMS, 'free', { finalizers });
    bench.make(PODS, 'p', podWith('used', 'n'));
    bench.run(runClaimProtection);
    await bench.client.delete(CLAIMS, { namespace, name: 'used' });
    await bench.client.delete(CLAIMS, { namespace, name: 'free' });
    await bench.until(() => claimNow('free') === undefined);
    expect(claimNow('used')?.metadata.finalizers).toEqual(finalizers);
    await bench.client.delete(PODS, { namespace, name: 'p' }, { gracePeriodSeconds: 0 });
    await bench.until(() => claimNow('used') === undefined);
  });

  test('of a pod that the informer does not know stays until that pod is deleted', async () => {
    bench.make(CLAIMS, 'c', { finalizers });
    let looks = 0;
    bench.server.fault = ({ path, query }) => {
      if (path === `/api/v1/namespaces/${namespace}/pods`) looks += 1;
      return path === '/api/v1/pods' && query.has('watch') ? 'hang' : undefined;
    };
    bench.run(async (context, signal) => runClaimProtection(context, signal, { lookAgainMs: 10 }));
    // The finalizer of another claim shows that the informers are synced.
    bench.make(CLAIMS, 'other', {});
    await bench.until(() => claimNow('other')?.metadata.finalizers?.length === 1);
    bench.make(PODS, 'p', podWith('c', 'n'));
    await bench.client.delete(CLAIMS, { namespace, name: 'c' });
    await new Promise<void>((resolve) => {
      const previous = bench.server.fault;
      bench.server.fault = (request) => {
        if (looks >= 2) resolve();
        return previous(request);
      };
    });
    expect(claimNow('c')?.metadata.finalizers).toEqual(finalizers);
    await bench.client.delete(PODS, { namespace, name: 'p' }, { gracePeriodSeconds: 0 });
    await bench.until(() => claimNow('c') === undefined);
    expect(claimNow('c')).toBeUndefined();
  });

  test('of an unscheduled pod is removed', async () => {
    bench.make(CLAIMS, 'c', { finalizers });
    bench.make(PODS, 'p', podWith('c'));
    bench.run(runClaimProtection);
    await bench.client.delete(CLAIMS, { namespace, name: 'c' });
    await bench.until(() => claimNow('c') === undefined);
    expect(claimNow('c')).toBeUndefined();
  });

  test('that another client changed meanwhile is changed in its current state', async () => {
    bench.make(CLAIMS, 'c', {});
    let isRefused = false;
    bench.server.fault = ({ method }) => {
      if (method !== 'PUT' || isRefused) return undefined;
      isRefused = true;
      const current = claimNow('c');
      if (current !== undefined) {
        const metadata = { ...current.metadata, labels: { mine: 'x' } };
        bench.server.store.update({ resource: CLAIMS, namespace, name: 'c' }, { ...current, metadata });
      }
      return undefined;
    };
    bench.run(runClaimProtection);
    await bench.until(() => claimNow('c')?.metadata.finalizers?.length === 1);
    expect(claimNow('c')?.metadata).toMatchObject({ finalizers, labels: { mine: 'x' } });
  });

  test('without the finalizer gets it, and keeps other finalizers', async () => {
    bench.make(CLAIMS, 'c', { finalizers: ['example.com/x'] });
    bench.run(runClaimProtection);
    await bench.until(() => claimNow('c')?.metadata.finalizers?.length === 2);
    expect(claimNow('c')?.metadata.finalizers).toEqual(['example.com/x', FINALIZER.claimProtection]);
    await bench.client.delete(CLAIMS, { namespace, name: 'c' });
    await bench.until(() => claimNow('c')?.metadata.finalizers?.length === 1);
    expect(claimNow('c')?.metadata.finalizers).toEqual(['example.com/x']);
  });
});

test.each([
  [{}, true],
  [{ deletionTimestamp: '2024-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 }, true],
  [{ deletionTimestamp: '2024-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 }, false],
])('whether a pod with %j uses the claim of its ephemeral volume: %j', (metadata, expected) => {
  const spec = { containers: [], nodeName: 'n', volumes: [{ name: 'v', ephemeral: {} }] };
  const pod = podOf({ metadata: { name: 'p', uid: 'u', ...metadata }, spec });
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', controller: true };
  const claimOf = (uid: string) => ({ metadata: { name: 'p-v', ownerReferences: [{ ...owner, uid }] } });
  expect(isUsing(pod, claimOf('u'))).toBe(expected);
  expect(isUsing(pod, claimOf('of another pod'))).toBe(false);
  expect(isUsing(pod, { metadata: { name: 'p-v' } })).toBe(false);
});

describe('a volume', () => {
  const finalizers = [FINALIZER.volumeProtection];
  const place = { resource: VOLUMES, namespace: '', name: 'pv' };
  const make = (phase: string) =>
    bench.server.store.create(place, { metadata: { finalizers }, status: { phase } });
  const volumeNow = () => bench.server.store.find(place);

  test('without a bound claim is removed when it is deleted', async () => {
    make('Released');
    bench.run(runVolumeProtection);
    await bench.client.delete(VOLUMES, { name: 'pv' });
    await bench.until(() => volumeNow() === undefined);
    expect(volumeNow()).toBeUndefined();
  });

  test('with a bound claim stays until it is released', async () => {
    make('Bound');
    bench.server.store.create({ ...place, name: 'other' }, { metadata: {} });
    await bench.client.delete(VOLUMES, { name: 'pv' });
    bench.run(runVolumeProtection);
    const otherNow = () => bench.server.store.find({ ...place, name: 'other' });
    await bench.until(() => otherNow()?.metadata.finalizers?.length === 1);
    expect(volumeNow()?.metadata.finalizers).toEqual(finalizers);
    const volume = volumeNow();
    await bench.client.updateStatus(VOLUMES, {
      ...volume,
      metadata: { name: 'pv' },
      status: { phase: 'Released' },
    });
    await bench.until(() => volumeNow() === undefined);
  });
});

test('a class of attributes is protected, and removed once no volume and no claim has it', async () => {
  const place = (name: string) => ({ resource: ATTRIBUTES_CLASSES, namespace: '', name });
  const classNow = (name: string) => bench.server.store.find(place(name));
  const finalizers = [FINALIZER.classProtection];
  for (const name of ['of-volume', 'of-claim', 'free']) {
    bench.server.store.create(place(name), { metadata: { finalizers } });
  }
  const volume = { resource: VOLUMES, namespace: '', name: 'pv' };
  bench.server.store.create(volume, { metadata: {}, spec: { volumeAttributesClassName: 'of-volume' } });
  const claim = { resource: CLAIMS, namespace, name: 'c' };
  const status = { currentVolumeAttributesClassName: 'of-claim' };
  bench.server.store.create(claim, { metadata: {}, spec: {}, status });
  bench.run(runClassProtection);
  bench.server.store.create(place('new'), { metadata: {} });
  await bench.until(() => classNow('new')?.metadata.finalizers?.join() === finalizers.join());
  for (const name of ['of-volume', 'of-claim', 'free']) {
    await bench.client.delete(ATTRIBUTES_CLASSES, { name });
  }
  await bench.until(() => classNow('free') === undefined);
  expect([classNow('of-volume'), classNow('of-claim')].includes(undefined)).toBe(false);
  await bench.client.delete(VOLUMES, { name: 'pv' });
  await bench.until(() => classNow('of-volume') === undefined);
  expect(classNow('of-claim')).toBeDefined();
  await bench.client.delete(CLAIMS, { namespace, name: 'c' });
  await bench.until(() => classNow('of-claim') === undefined);
});
