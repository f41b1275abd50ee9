import { GROUP, NAMESPACE } from '../../../shared/names';
import { silentLog } from '../../../shared/log/log';
import { patience } from '../../../shared/testing/eventually';
import { newExchange } from '../../engine/request/testing/new-exchange';
import { parseRequestInfo } from '../../engine/request/request-info';
import { parseRuntimeConfig } from '../../engine/registry/runtime-config';
import type { StatusError } from '../../../shared/errors/status-error';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { createStorageVersionStage } from '../../compose/storage-version-stage';
import type { StorageVersions } from './storage-versions';
import { createStorageVersions } from './storage-versions';

const VERSIONS = `/apis/${GROUP.apiserverinternal}/v1alpha1/storageversions`;

let api: InProcessApi;
let completed: number;

beforeEach(async () => {
  const config = parseRuntimeConfig([`${GROUP.apiserverinternal}/v1alpha1=true`]);
  if (!config.ok) throw new Error(config.errors.join('; '));
  api = await startInProcessApi(undefined, { runtimeConfig: config.config });
  completed = 0;
});
afterEach(async () => api.close());

function replica(id: string, registry = api.plane.registry()): StorageVersions {
  const { store } = api.plane;
  const onComplete = (): void => void (completed += 1);
  const versions = createStorageVersions({ store, registry, id, onComplete, log: silentLog });
  if (versions === undefined) throw new Error('storage versions are not served');
  return versions;
}

const statusOf = async (name: string) => (await api.call('GET', `${VERSIONS}/${name}`)).json.status;

test('every stored resource has a StorageVersion with its decodable versions', async () => {
  await replica('a').reconcile(patience());
  expect(completed).toBe(1);
  const { json } = await api.call('GET', VERSIONS);
  const { registry } = api.plane;
  expect(json.items).toHaveLength(registry().stored.length);
  expect(await statusOf('apps.deployments')).toEqual({
    storageVersions: [
      {
        apiServerID: 'a',
        encodingVersion: 'apps/v1',
        decodableVersions: expect.arrayContaining(['apps/v1']),
      },
    ],
    commonEncodingVersion: 'apps/v1',
    conditions: [
      {
        type: 'AllEncodingVersionsEqual',
        status: 'True',
        lastTransitionTime: expect.any(String),
        reason: 'CommonEncodingVersionSet',
        message: 'Common encoding version set',
      },
    ],
  });
  const [rules] = (await statusOf(`${GROUP.rbac}.roles`)).storageVersions;
  expect(rules.decodableVersions.toSorted()).toEqual(
    ['v1', 'v1alpha1', 'v1beta1'].map((version) => `${GROUP.rbac}/${version}`),
  );
});

test('a resource in two groups is registered once, by the first group', async () => {
  await replica('a').reconcile(patience());
  const { json } = await api.call('GET', VERSIONS);
  const names: readonly string[] = json.items.map(
    ({ metadata }: { metadata: { name: string } }) => metadata.name,
  );
  expect(names.filter((name) => name.endsWith('.events'))).toEqual(['core.events']);
  expect(names.filter((name) => name.endsWith('.ingresses'))).toEqual(['extensions.ingresses']);
  expect(names.every((name) => !name.startsWith('.'))).toBe(true);
});

test('replicas have separate entries, and a round without changes writes nothing', async () => {
  const [one, other] = [replica('a'), replica('b')];
  await one.reconcile(patience());
  await other.reconcile(patience());
  const before = (await api.call('GET', VERSIONS)).json.items;
  await one.reconcile(patience());
  await other.reconcile(patience());
  expect((await api.call('GET', VERSIONS)).json.items).toEqual(before);
  const { storageVersions } = await statusOf('core.pods');
  expect(storageVersions.map(({ apiServerID }: { apiServerID: string }) => apiServerID)).toEqual(['a', 'b']);
});

test('a deleted or changed StorageVersion is restored', async () => {
  const versions = replica('a');
  await versions.reconcile(patience());
  await api.call('DELETE', `${VERSIONS}/core.pods`);
  const { json } = await api.call('GET', `${VERSIONS}/core.secrets`);
  await api.call('PUT', `${VERSIONS}/core.secrets/status`, { body: { ...json, status: {} } });
  await versions.reconcile(patience());
  for (const name of ['core.pods', 'core.secrets']) {
    expect(await statusOf(name)).toMatchObject({ storageVersions: [{ apiServerID: 'a' }] });
  }
});

test('nothing is written if StorageVersions are not served', async () => {
  const plain = await startInProcessApi();
  const { store, registry } = plain.plane;
  const onComplete = (): void => undefined;
  expect(
    createStorageVersions({ store, registry: registry(), id: 'a', onComplete, log: silentLog }),
  ).toBeUndefined();
  await plain.close();
});

describe('until the StorageVersion is registered', () => {
  const ask = async (versions: Pick<StorageVersions, 'pending'>, method: string, path: string) => {
    const info = parseRequestInfo(method, path, new URLSearchParams());
    let isLetIn = false;
    const asked = createStorageVersionStage(versions)(newExchange({ method, path, info }), async () => {
      isLetIn = true;
      return Promise.resolve();
    });
    const why: unknown = await asked.catch((error: unknown) => error);
    return isLetIn ? 'in' : (why as StatusError).status;
  };

  test('writes to the resource are rejected, and nothing else is', async () => {
    const versions = replica('a');
    expect(await ask(versions, 'POST', '/api/v1/namespaces/default/pods')).toMatchObject({
      code: 503,
      reason: 'ServiceUnavailable',
      message: 'wait for storage version registration to complete for resource: pods, last seen error: <nil>',
    });
    for (const path of [
      '/apis/apps/v1/namespaces/default/deployments/a',
      `/apis/${GROUP.networking}/v1/namespaces/d/ingresses/i`,
    ]) {
      expect(await ask(versions, 'PATCH', path)).toMatchObject({ code: 503 });
      expect(await ask(versions, 'GET', path)).toBe('in');
    }
    for (const path of [
      '/healthz',
      '/apis/example.com/v1/namespaces/default/gizmos',
      `/apis/${GROUP.authorization}/v1/selfsubjectaccessreviews`,
      VERSIONS,
      `/apis/${GROUP.coordination}/v1/namespaces/${NAMESPACE.system}/leases`,
    ]) {
      expect(await ask(versions, 'POST', path)).toBe('in');
    }
    const leases = `/apis/${GROUP.coordination}/v1/namespaces/default/leases`;
    expect(await ask(versions, 'POST', leases)).toMatchObject({ code: 503 });
    await versions.reconcile(patience());
    expect(await ask(versions, 'POST', '/api/v1/namespaces/default/pods')).toBe('in');
    expect(await ask(versions, 'POST', leases)).toBe('in');
  });

  test('the error message has the last failure, and only unregistered resources wait', async () => {
    const versions = replica('not a name');
    await expect(versions.reconcile(patience())).rejects.toThrow('apiServerID');
    expect(completed).toBe(0);
    const refusal = await ask(versions, 'POST', '/api/v1/namespaces/default/pods');
    expect(refusal).toMatchObject({ message: expect.stringContaining('last seen error: ') });
    expect(refusal).toMatchObject({ message: expect.stringContaining('apiServerID') });
  });
});
