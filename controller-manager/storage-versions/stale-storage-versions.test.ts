import { DEFAULT_KIND_SETTINGS } from '../../apiserver/engine/registry/strategy';
import { parseRuntimeConfig } from '../../apiserver/engine/registry/runtime-config';
import type { StorageVersion } from '../../shared/api/types/apiserverinternal-v1alpha1';
import { withServers } from '../../shared/meta/storage-versions';
import { API_SERVER_MANAGER, GROUP, LABEL, NAMESPACE } from '../../shared/names';
import { MANAGER_GATES } from '../runtime/controller-options';
import type { RoleBench } from '../testing/role-bench';
import { createRoleBench } from '../testing/role-bench';
import { runStaleStorageVersions } from './stale-storage-versions';

const VERSIONS = `/apis/${GROUP.apiserverinternal}/v1alpha1/storageversions`;
const LEASES = `/apis/${GROUP.coordination}/v1/namespaces/${NAMESPACE.system}/leases`;

let bench: RoleBench;
beforeEach(async () => {
  const config = parseRuntimeConfig([`${GROUP.apiserverinternal}/v1alpha1=true`]);
  if (!config.ok) throw new Error(config.errors.join('; '));
  const kindSettings = { ...DEFAULT_KIND_SETTINGS, gates: new Set(MANAGER_GATES) };
  bench = await createRoleBench(undefined, { runtimeConfig: config.config, kindSettings });
});
afterEach(async () => bench.close());

const live = async (id: string, component = API_SERVER_MANAGER) =>
  bench.call('POST', LEASES, {
    metadata: { name: id, labels: { [LABEL.component]: component } },
    spec: { holderIdentity: id },
  });

/** Creates a StorageVersion with these servers and their encoding versions. */
async function tell(name: string, servers: Readonly<Record<string, string>>): Promise<void> {
  const made = (await bench.call('POST', VERSIONS, { metadata: { name }, spec: {} })) as StorageVersion;
  const said = Object.entries(servers).map(([apiServerID, encodingVersion]) => ({
    apiServerID,
    encodingVersion,
    decodableVersions: ['apps/v1', 'apps/v1beta1'],
  }));
  await bench.call('PUT', `${VERSIONS}/${name}/status`, withServers(made, said, Date.now()));
}

const idsOf = (version: StorageVersion | undefined): readonly (string | undefined)[] | undefined =>
  version?.status?.storageVersions?.map(({ apiServerID }) => apiServerID);

const run = (): void => bench.run(runStaleStorageVersions, 'storage-version-garbage-collector');

test('entries of servers without a lease are removed, together with the common version', async () => {
  await live('alive');
  await live('elected', 'something-else');
  await tell('apps.deployments', { gone: 'apps/v1beta1', alive: 'apps/v1', elected: 'apps/v1beta1' });
  await tell('apps.daemonsets', { gone: 'apps/v1' });
  await tell('apps.statefulsets', { alive: 'apps/v1' });
  run();
  const next = await bench.when<StorageVersion>(
    VERSIONS,
    'apps.deployments',
    (version) => idsOf(version)?.length === 1,
  );
  expect(next?.status).toMatchObject({
    storageVersions: [{ apiServerID: 'alive' }],
    commonEncodingVersion: 'apps/v1',
    conditions: [{ type: 'AllEncodingVersionsEqual', status: 'True', reason: 'CommonEncodingVersionSet' }],
  });
  await bench.when(VERSIONS, 'apps.daemonsets', (version) => version === undefined);
  expect(bench.writes.toSorted()).toEqual([
    `DELETE ${VERSIONS}/apps.daemonsets`,
    `PUT ${VERSIONS}/apps.deployments/status`,
  ]);
});

test('the entry of a server whose lease is deleted is removed', async () => {
  await live('alive');
  await live('going');
  await tell('apps.deployments', { alive: 'apps/v1', going: 'apps/v1beta1' });
  run();
  await tell('apps.daemonsets', { gone: 'apps/v1' });
  await bench.when(VERSIONS, 'apps.daemonsets', (version) => version === undefined);
  const before = await bench.call('GET', `${VERSIONS}/apps.deployments`);
  expect(idsOf(before as StorageVersion)).toEqual(['alive', 'going']);
  expect((before as StorageVersion).status?.commonEncodingVersion).toBeUndefined();
  await bench.call('DELETE', `${LEASES}/going`);
  const after = await bench.when<StorageVersion>(
    VERSIONS,
    'apps.deployments',
    (version) => idsOf(version)?.length === 1,
  );
  expect(after?.status?.commonEncodingVersion).toBe('apps/v1');
});
