import { GROUP, LABEL } from '../../../shared/names';
import { silentLog } from '../../../shared/log/log';
import { eventually, patience } from '../../../shared/testing/eventually';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { FaultyMemoryBackend } from '../../engine/storage/testing/faulty-memory-backend';
import type { ApiVersions } from './api-versions';
import { createApiVersions } from './api-versions';

const SERVICES = `/apis/${GROUP.apiregistration}/v1/apiservices`;
const OWN = encodeURIComponent(`${LABEL.automanaged}=onstart`);

let api: InProcessApi;

beforeEach(async () => {
  api = await startInProcessApi();
});

afterEach(async () => {
  await api.close();
});

function replica(of: InProcessApi = api): ApiVersions {
  return createApiVersions({ store: of.plane.store, registry: of.plane.registry, log: silentLog });
}

/** Returns all objects of the kind by name. The server has then seen all earlier writes. */
async function services(of: InProcessApi = api): Promise<ReadonlyMap<string, { spec: unknown }>> {
  const { json } = await of.call('GET', SERVICES);
  const items: readonly { metadata: { name: string }; spec: unknown }[] = json.items;
  return new Map(items.map((item) => [item.metadata.name, item]));
}

test('every served group version except that of the APIServices has an available local APIService', async () => {
  await replica().reconcile(patience());
  const names = api.plane
    .registry()
    .groups.filter(({ group }) => group !== GROUP.apiregistration)
    .flatMap(({ group, versions }) => versions.map((version) => `${version}.${group}`));
  expect([...(await services()).keys()].toSorted()).toEqual(names.toSorted());
  const { json } = await api.call('GET', `${SERVICES}/v1.apps`);
  expect(json).toMatchObject({
    metadata: { labels: { [LABEL.automanaged]: 'onstart' } },
    spec: { group: 'apps', version: 'v1', groupPriorityMinimum: 17800, versionPriority: 15 },
    status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
  });
  const core = await api.call('GET', `${SERVICES}/v1.`);
  expect(core.json.spec).toEqual({ version: 'v1', groupPriorityMinimum: 18000, versionPriority: 1 });
});

test('a deleted or changed APIService is restored, and a correct one is not written again', async () => {
  const keeper = replica();
  await keeper.reconcile(patience());
  const before = await services();
  await api.call('DELETE', `${SERVICES}/v1.apps`);
  await api.call('PATCH', `${SERVICES}/v1.batch`, { body: { spec: { versionPriority: 3 } } });
  await services();
  await keeper.reconcile(patience());
  const after = await services();
  expect(after.get('v1.apps')?.spec).toEqual(before.get('v1.apps')?.spec);
  expect(after.get('v1.batch')?.spec).toEqual(before.get('v1.batch')?.spec);
  await keeper.reconcile(patience());
  expect(await services()).toEqual(after);
});

test('an APIService without the label belongs to a client and is left unchanged', async () => {
  const keeper = replica();
  await keeper.reconcile(patience());
  const body = { metadata: { labels: { [LABEL.automanaged]: null } }, spec: { versionPriority: 3 } };
  await api.call('PATCH', `${SERVICES}/v1.batch`, { body });
  await services();
  await keeper.reconcile(patience());
  expect((await services()).get('v1.batch')?.spec).toMatchObject({ versionPriority: 3 });
});

test('replicas that start concurrently all succeed and leave one object each', async () => {
  await Promise.all([replica(), replica(), replica()].map((each) => each.reconcile(patience())));
  const { json } = await api.call('GET', `${SERVICES}?labelSelector=${OWN}`);
  const created: readonly { metadata: { uid: string } }[] = json.items;
  await replica().reconcile(patience());
  expect((await api.call('GET', `${SERVICES}?labelSelector=${OWN}`)).json.items).toEqual(created);
});

test('a version that is no longer served loses its APIService when a replica starts, and not later', async () => {
  const backend = new FaultyMemoryBackend();
  const both = await startInProcessApi(backend, { runtimeConfig: new Map([['api/alpha', true]]) });
  await replica(both).reconcile(patience());
  expect((await services(both)).has(`v1alpha1.${GROUP.node}`)).toBe(true);
  const fewer = await startInProcessApi(backend);
  await services(fewer);
  const keeper = replica(fewer);
  await keeper.reconcile(patience());
  expect((await services(fewer)).has(`v1alpha1.${GROUP.node}`)).toBe(false);
  await services(both);
  await replica(both).reconcile(patience());
  await services(fewer);
  await keeper.reconcile(patience());
  expect((await services(fewer)).has(`v1alpha1.${GROUP.node}`)).toBe(true);
  await Promise.all([both.close(), fewer.close()]);
});

describe('the versions of custom resources', () => {
  const DEFINITIONS = `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`;

  async function define(plural: string, versions: readonly string[]): Promise<void> {
    const body = {
      metadata: { name: `${plural}.example.com` },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural, kind: `Kind${plural}` },
        versions: versions.map((name, index) => ({
          name,
          served: true,
          storage: index === 0,
          schema: { openAPIV3Schema: { type: 'object' } },
        })),
      },
    };
    expect(await api.call('POST', DEFINITIONS, { body })).toMatchObject({ code: 201 });
    await until(
      async () => (await api.call('GET', `/apis/example.com/${String(versions[0])}/${plural}`)).code === 200,
    );
  }

  /** Waits for the server's background work after a write. */
  async function until(check: () => Promise<boolean>): Promise<void> {
    await eventually('what the server does by itself after a write', check);
  }

  async function exists(name: string): Promise<boolean> {
    return (await services()).has(name);
  }

  test('have APIServices that follow their definitions; the last definition of a version keeps it', async () => {
    const shutdown = new AbortController();
    const kept = replica().run(shutdown.signal);
    await define('things', ['v1', 'v1beta1']);
    await define('others', ['v1']);
    await until(async () => (await exists('v1.example.com')) && exists('v1beta1.example.com'));
    expect((await api.call('GET', `${SERVICES}/v1beta1.example.com`)).json).toMatchObject({
      metadata: { labels: { [LABEL.automanaged]: 'true' } },
      spec: { group: 'example.com', version: 'v1beta1', groupPriorityMinimum: 1000, versionPriority: 100 },
      status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
    });
    await api.call('DELETE', `${DEFINITIONS}/things.example.com`);
    await until(async () => !(await exists('v1beta1.example.com')));
    expect(await exists('v1.example.com')).toBe(true);
    await api.call('DELETE', `${DEFINITIONS}/others.example.com`);
    await until(async () => !(await exists('v1.example.com')));
    shutdown.abort();
    await kept;
  });

  test('leave an APIService of a client unchanged', async () => {
    const spec = { group: 'example.com', version: 'v1', groupPriorityMinimum: 5, versionPriority: 5 };
    await api.call('POST', SERVICES, { body: { metadata: { name: 'v1.example.com' }, spec } });
    await define('things', ['v1']);
    await replica().reconcile(patience());
    expect((await api.call('GET', `${SERVICES}/v1.example.com`)).json.spec).toEqual(spec);
    await api.call('DELETE', `${DEFINITIONS}/things.example.com`);
    await until(async () => (await api.call('GET', '/apis/example.com/v1')).code === 404);
    await replica().reconcile(patience());
    expect(await exists('v1.example.com')).toBe(true);
  });
});
