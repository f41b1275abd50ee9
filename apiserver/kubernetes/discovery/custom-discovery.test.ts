import { FINALIZER, GROUP } from '../../../shared/names';
import { eventually } from '../../../shared/testing/eventually';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

const DEFINITIONS = `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`;

let api: InProcessApi;
beforeEach(async () => {
  api = await startInProcessApi();
});
afterEach(async () => api.close());

interface Version {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly subresources?: object;
}

async function define(
  resource: string,
  { names, versions }: { readonly names: object; readonly versions: readonly Version[] },
): Promise<void> {
  const dot = resource.indexOf('.');
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const body = {
    metadata: { name: resource },
    spec: {
      group: resource.slice(dot + 1),
      scope: 'Namespaced',
      names: { plural: resource.slice(0, dot), ...names },
      versions: versions.map((each) => ({ served: true, storage: false, schema, ...each })),
    },
  };
  expect(await api.call('POST', DEFINITIONS, { body })).toMatchObject({ code: 201 });
  await until(async () => {
    const { json } = await api.call('GET', `${DEFINITIONS}/${resource}`);
    const conditions: readonly { type: string; status: string }[] = json.status.conditions ?? [];
    return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
  });
}

/** Waits for the server's background work after a write. */
async function until(check: () => Promise<boolean>): Promise<void> {
  await eventually('what the server does by itself after a write', check);
}

async function document(path: string): Promise<{ readonly [field: string]: unknown }> {
  const { code, json } = await api.call('GET', path);
  expect({ path, code }).toEqual({ path, code: 200 });
  return json;
}

const SCALE = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

function sorted(resources: unknown): readonly object[] {
  return (resources as readonly { name: string; verbs: string[] }[])
    .map((each) => ({ ...each, verbs: each.verbs.toSorted() }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

test('a version lists its resources with all their names and subresources', async () => {
  await define('things.example.com', {
    names: { kind: 'Thing', singular: 'thing', shortNames: ['th'], categories: ['all'] },
    versions: [
      { name: 'v1', storage: true, subresources: { status: {}, scale: SCALE } },
      { name: 'v1beta1' },
      { name: 'v2', served: false },
    ],
  });
  const v1 = await document('/apis/example.com/v1');
  expect(v1).toMatchObject({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'example.com/v1' });
  const own = { namespaced: true, verbs: VERBS, singularName: 'thing', kind: 'Thing' };
  const thing = { ...own, name: 'things', shortNames: ['th'], categories: ['all'] };
  const sub = { namespaced: true, verbs: ['get', 'patch', 'update'], singularName: '' };
  const hash = expect.stringMatching(/^.{11}=$/);
  expect(sorted(v1['resources'])).toEqual([
    { ...thing, storageVersionHash: hash },
    { ...sub, name: 'things/scale', kind: 'Scale', group: GROUP.autoscaling, version: 'v1' },
    { ...sub, name: 'things/status', kind: 'Thing' },
  ]);
  const names = (v1['resources'] as readonly { readonly name: string }[]).map(({ name }) => name);
  expect(names).toEqual(['things', 'things/status', 'things/scale']);
  const beta = await document('/apis/example.com/v1beta1');
  expect(sorted(beta['resources'])).toEqual([{ ...thing, storageVersionHash: hash }]);
  const hashOf = ({ resources }: typeof beta): unknown =>
    (resources as readonly { storageVersionHash?: string }[])[0]?.storageVersionHash;
  expect(hashOf(v1)).toBe(hashOf(beta));
  expect((await api.call('GET', '/apis/example.com/v2')).code).toBe(404);
});

test('a resource that is stored in an unserved version has no hash', async () => {
  await define('things.example.com', {
    names: { kind: 'Thing' },
    versions: [{ name: 'v1', storage: true, served: false }, { name: 'v2' }],
  });
  const { resources } = await document('/apis/example.com/v2');
  expect(sorted(resources)).toEqual([
    { name: 'things', singularName: 'thing', kind: 'Thing', namespaced: true, verbs: VERBS },
  ]);
});

test('groups follow the built-in ones, each with its preferred version first, and are in the list of paths', async () => {
  const before = (await document('/apis'))['groups'] as readonly object[];
  await define('things.b.example.com', {
    names: { kind: 'Thing' },
    versions: [{ name: 'v1beta1', storage: true }, { name: 'v1' }],
  });
  await define('others.b.example.com', {
    names: { kind: 'Other' },
    versions: [{ name: 'v3', storage: true }],
  });
  await define('things.a.example.com', {
    names: { kind: 'Thing' },
    versions: [{ name: 'v1beta2', storage: true }],
  });
  const entry = (group: string, version: string): object => ({
    groupVersion: `${group}/${version}`,
    version,
  });
  const [v3, v1, beta] = ['v3', 'v1', 'v1beta1'].map((version) => entry('b.example.com', version));
  const [b, a] = [
    { name: 'b.example.com', versions: [v3, v1, beta], preferredVersion: v3 },
    {
      name: 'a.example.com',
      versions: [entry('a.example.com', 'v1beta2')],
      preferredVersion: entry('a.example.com', 'v1beta2'),
    },
  ];
  expect((await document('/apis'))['groups']).toEqual([...before, b, a]);
  expect(await document('/apis/b.example.com')).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...b });
  expect((await document('/'))['paths']).toEqual(
    expect.arrayContaining(['/apis/b.example.com', '/apis/b.example.com/v3', '/apis/a.example.com/v1beta2']),
  );
});

test('no method or media type check precedes a version with custom resources only', async () => {
  await define('things.example.com', { names: { kind: 'Thing' }, versions: [{ name: 'v1', storage: true }] });
  const path = '/apis/example.com/v1';
  expect((await api.call('POST', path, { body: {} })).json).toMatchObject({ kind: 'APIResourceList' });
  const refused = await api.call('GET', path, { headers: { accept: 'text/html' } });
  expect(refused).toMatchObject({
    code: 406,
    json: { message: expect.stringMatching(/^only the following/) },
  });
});

test('a group is removed with the last of its definitions', async () => {
  const [things, others] = ['things.example.com', 'others.example.com'];
  await define(things, { names: { kind: 'Thing' }, versions: [{ name: 'v1', storage: true }] });
  await define(others, { names: { kind: 'Other' }, versions: [{ name: 'v1', storage: true }] });
  await api.call('DELETE', `${DEFINITIONS}/${things}`);
  const names = async (): Promise<readonly unknown[]> =>
    ((await document('/apis/example.com/v1'))['resources'] as readonly { name: string }[]).map(
      ({ name }) => name,
    );
  await until(async () => !(await names()).includes('things'));
  expect(await names()).toEqual(['others']);
  await api.call('DELETE', `${DEFINITIONS}/${others}`);
  await until(async () => (await api.call('GET', '/apis/example.com')).code === 404);
  expect((await api.call('GET', '/apis/example.com/v1')).code).toBe(404);
});

test('a resource whose definition is being deleted has no verbs that create or update', async () => {
  const name = 'things.example.com';
  await define(name, { names: { kind: 'Thing' }, versions: [{ name: 'v1', storage: true }] });
  const body = {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'held', finalizers: ['example.com/held'] },
  };
  const created = await api.call('POST', '/apis/example.com/v1/namespaces/default/things', { body });
  expect(created.code).toBe(201);
  await api.call('DELETE', `${DEFINITIONS}/${name}`);
  const verbs = async (): Promise<unknown> =>
    (sorted((await document('/apis/example.com/v1'))['resources'])[0] as { verbs: unknown }).verbs;
  await until(async () => !JSON.stringify(await verbs()).includes('create'));
  expect(await verbs()).toEqual(['delete', 'deletecollection', 'get', 'list', 'watch']);
  expect((await document(`${DEFINITIONS}/${name}`))['metadata']).toMatchObject({
    finalizers: [FINALIZER.customResourceCleanup],
  });
});
