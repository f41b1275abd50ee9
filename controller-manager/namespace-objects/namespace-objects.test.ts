import { CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS } from '../../shared/client/testing/fake-resources';
import { StatusError } from '../../shared/errors/status-error';
import { ROOT_CA } from '../../shared/names';
import type { Bench } from '../testing/bench';
import { TEST_NAMESPACE, createBench } from '../testing/bench';
import { runRootCaPublisher } from './root-ca-publisher';
import { runServiceAccounts } from './service-accounts';

let bench: Bench;
beforeEach(async () => {
  bench = await createBench();
});
afterEach(async () => bench.close());

const accountIn = (namespace: string) =>
  bench.server.store.find({ resource: SERVICE_ACCOUNTS, namespace, name: 'default' });
const bundleIn = (namespace: string) =>
  bench.server.store.find({ resource: CONFIG_MAPS, namespace, name: ROOT_CA.configMap });
const makeNamespace = (name: string) =>
  bench.server.store.create({ resource: NAMESPACES, namespace: '', name }, { metadata: { name } });

describe('the default service account', () => {
  test('is created in existing and in new namespaces', async () => {
    bench.run(runServiceAccounts);
    await bench.until(() => accountIn(TEST_NAMESPACE) !== undefined);
    makeNamespace('later');
    await bench.until(() => accountIn('later') !== undefined);
    expect(accountIn('later')?.metadata).toMatchObject({ name: 'default', namespace: 'later' });
  });

  test('is created again after its deletion', async () => {
    bench.run(runServiceAccounts);
    await bench.until(() => accountIn(TEST_NAMESPACE) !== undefined);
    const { uid } = accountIn(TEST_NAMESPACE)?.metadata ?? {};
    await bench.client.delete(SERVICE_ACCOUNTS, { namespace: TEST_NAMESPACE, name: 'default' });
    await bench.until(() => (accountIn(TEST_NAMESPACE)?.metadata.uid ?? uid) !== uid);
    expect(accountIn(TEST_NAMESPACE)).toBeDefined();
  });

  test('is not created in a terminating namespace, and an existing one stays unchanged', async () => {
    const { store } = bench.server;
    makeNamespace('going');
    await bench.client.delete(NAMESPACES, { name: 'going' });
    store.create(
      { resource: SERVICE_ACCOUNTS, namespace: TEST_NAMESPACE, name: 'default' },
      { metadata: { labels: { mine: 'yes' } } },
    );
    bench.run(runServiceAccounts);
    makeNamespace('last');
    await bench.until(() => accountIn('last') !== undefined);
    expect(accountIn('going')).toBeUndefined();
    expect(accountIn(TEST_NAMESPACE)?.metadata.labels).toEqual({ mine: 'yes' });
  });

  test('is retried after a failure', async () => {
    let refusals = 0;
    bench.server.fault = ({ method }) => {
      if (method !== 'POST' || refusals >= 3) return undefined;
      refusals += 1;
      return new StatusError('InternalError', 'not now');
    };
    bench.run(runServiceAccounts);
    await bench.until(() => accountIn(TEST_NAMESPACE) !== undefined);
    expect(refusals).toBe(3);
  });
});

describe('the CA ConfigMap of the API server', () => {
  const publish = () =>
    bench.run(async (context, signal) =>
      runRootCaPublisher({ ...context, options: { ...context.options, rootCa: 'PEM' } }, signal),
    );

  test('exists in every namespace', async () => {
    publish();
    makeNamespace('later');
    await bench.until(() => bundleIn(TEST_NAMESPACE) !== undefined && bundleIn('later') !== undefined);
    expect(bundleIn('later')?.['data']).toEqual({ 'ca.crt': 'PEM' });
  });

  test('is corrected if another client created it first', async () => {
    const place = { resource: CONFIG_MAPS, namespace: TEST_NAMESPACE, name: ROOT_CA.configMap };
    bench.server.fault = ({ method }) => {
      if (method !== 'POST' || bench.server.store.find(place) !== undefined) return undefined;
      bench.server.store.create(place, { metadata: {}, data: { 'ca.crt': 'forged' } });
      return new StatusError('AlreadyExists', 'somebody was faster');
    };
    publish();
    const text = () => (bundleIn(TEST_NAMESPACE)?.['data'] as Record<string, string> | undefined)?.['ca.crt'];
    await bench.until(() => text() === 'PEM');
    expect(text()).toBe('PEM');
  });

  test('is restored after a change or deletion', async () => {
    publish();
    await bench.until(() => bundleIn(TEST_NAMESPACE) !== undefined);
    const changed = {
      ...bundleIn(TEST_NAMESPACE),
      metadata: { name: ROOT_CA.configMap, namespace: TEST_NAMESPACE },
    };
    await bench.client.update(CONFIG_MAPS, { ...changed, data: { 'ca.crt': 'forged' } });
    const text = () => (bundleIn(TEST_NAMESPACE)?.['data'] as Record<string, string> | undefined)?.['ca.crt'];
    await bench.until(() => text() === 'PEM');
    await bench.client.delete(CONFIG_MAPS, { namespace: TEST_NAMESPACE, name: ROOT_CA.configMap });
    await bench.until(() => text() === 'PEM');
    expect(bundleIn(TEST_NAMESPACE)?.['data']).toEqual({ 'ca.crt': 'PEM' });
  });
});
