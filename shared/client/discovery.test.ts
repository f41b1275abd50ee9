import { GROUP } from '../names';
import { createClient } from './client';
import { discover, metadataResources } from './discovery';
import type { FakeApiServer } from './testing/fake-api-server';
import { createFakeApiServer } from './testing/fake-api-server';
import type { FakeResource } from './testing/fake-resources';
import { CONFIG_MAPS, DEPLOYMENTS, FAKE_RESOURCES, LEASES } from './testing/fake-resources';

let server: FakeApiServer;
beforeEach(async () => {
  server = await createFakeApiServer();
});
afterEach(async () => server.close());

test('discovery lists every resource with its kind, scope and verbs, subresources separately', async () => {
  const { resources, subresources, failures, malformed } = await discover(
    createClient({ server: server.url }),
  );
  expect(resources).toHaveLength(FAKE_RESOURCES.length);
  expect(resources).toContainEqual({ ...CONFIG_MAPS, isPreferred: true });
  expect(subresources.map(({ resource }) => resource)).toContain('pods/status');
  expect({ failures, malformed }).toEqual({ failures: [], malformed: [] });
});

test('a group version that fails is reported, and the others are returned', async () => {
  server.brokenGroupVersions.add(`${GROUP.coordination}/v1`);
  const { resources, failures } = await discover(createClient({ server: server.url }));
  expect(failures).toMatchObject([
    { groupVersion: `${GROUP.coordination}/v1`, error: { status: { code: 503 } } },
  ]);
  expect(resources.map(({ group }) => group)).toContain('apps');
  expect(resources.map(({ resource }) => resource)).not.toContain(LEASES.resource);
});

test('a name that is no group version is reported', async () => {
  const groups = [{ name: 'odd', versions: [{ groupVersion: 'odd/v1/x', version: 'v1' }] }];
  const documents: Readonly<Record<string, unknown>> = { '/api': { versions: [] }, '/apis': { groups } };
  const getJson = async (path: string): Promise<unknown> => Promise.resolve(documents[path]);
  const client = { ...createClient({ server: server.url }), getJson };
  expect(await discover(client)).toMatchObject({ resources: [], malformed: ['odd/v1/x'] });
});

test('hundreds of groups are read a few at a time, in order', async () => {
  const names = Array.from({ length: 200 }, (_, at) => `g${String(at)}.example`);
  server.resources = names.map((group) => ({ ...DEPLOYMENTS, group }));
  const client = createClient({ server: server.url });
  let [asked, askedMax] = [0, 0];
  const getJson: typeof client.getJson = async (...args) => {
    asked += 1;
    askedMax = Math.max(askedMax, asked);
    return client.getJson(...args).finally(() => {
      asked -= 1;
    });
  };
  const { resources } = await discover({ ...client, getJson });
  expect(resources.map(({ group }) => group)).toEqual(names);
  expect(askedMax).toBeLessThanOrEqual(16);
  client.close();
});

function served(resource: string, version: string): FakeResource {
  return { ...DEPLOYMENTS, group: 'g', version, resource };
}

test('of several versions of a resource the preferred one is used, else the first that has it', async () => {
  server.resources = [served('both', 'v2'), served('both', 'v1'), served('old', 'v1')];
  const { resources } = await discover(createClient({ server: server.url }));
  expect(metadataResources(resources)).toMatchObject([
    { resource: 'both', version: 'v2' },
    { resource: 'old', version: 'v1' },
  ]);
});

test('a custom resource is read in its storage version, whichever is preferred', async () => {
  const crons = (version: string): FakeResource => ({
    ...DEPLOYMENTS,
    group: 'example.com',
    version,
    resource: 'crons',
    kind: 'Cron',
    // The first eight bytes of the SHA-256 of `example.com/v1/Cron`.
    storageVersionHash: 'IFcCGIslAWc=',
  });
  server.resources = [crons('v2'), crons('v1')];
  const { resources } = await discover(createClient({ server: server.url }));
  expect(metadataResources(resources)).toMatchObject([{ resource: 'crons', version: 'v1', isStored: true }]);
});

test('discovery fails without the root document', async () => {
  server.fault = ({ path }) => (path === '/apis' ? 'cut' : undefined);
  await expect(discover(createClient({ server: server.url }))).rejects.toThrow(/\/apis/);
});
