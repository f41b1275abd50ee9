import { GROUPS } from '../../../shared/api/groups';
import type { ResourceRow } from '../../../shared/api/resources';
import { RESOURCES } from '../../../shared/api/resources';
import { apiVersionOf } from '../../../shared/object/object';
import { GROUP, KUBERNETES_DISCOVERY_GROUP, MEDIA_TYPE } from '../../../shared/names';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

let api: InProcessApi;
let compared = 0;

beforeAll(async () => {
  api = await startInProcessApi(undefined, {
    runtimeConfig: new Map([['api/all', true]]),
    kindSettings: { allowPrivileged: false, ephemeralContainers: true },
  });
});
afterAll(async () => {
  await api.close();
  process.stdout.write(`resources compared with discovery: ${String(compared)}\n`);
});

interface Shown {
  readonly name: string;
  readonly [field: string]: unknown;
}

const VERSIONS = GROUPS.flatMap(({ group, versions }) =>
  versions.map(({ version }) => ({ group, version, apiVersion: apiVersionOf({ group, version }) })),
);

function rowsOf({ group, version }: { group: string; version: string }): readonly ResourceRow[] {
  return RESOURCES.filter((row) => row.group === group && row.version === version);
}

function shownOf(row: ResourceRow): readonly Shown[] {
  const { resource, namespaced, kind, verbs, shortNames, categories, subresources } = row;
  const own = {
    name: resource,
    singularName: '',
    namespaced,
    kind,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
  const others = subresources.map((each) => ({
    name: `${resource}/${each.name}`,
    singularName: '',
    namespaced,
    ...(each.group === row.group && each.version === row.version
      ? {}
      : { group: each.group, version: each.version }),
    kind: each.kind,
    verbs: each.verbs,
  }));
  return [own, ...others];
}

test.each(VERSIONS)('$apiVersion lists every row of the tables, and nothing else', async (place) => {
  const { json } = await api.call('GET', `${place.group === '' ? '/api' : '/apis'}/${place.apiVersion}`);
  expect(json.groupVersion).toBe(place.apiVersion);
  const shown: readonly Shown[] = json.resources;
  const withoutHashes = shown.map(({ storageVersionHash: _hash, ...rest }) => rest);
  const expected = rowsOf(place).flatMap(shownOf);
  const byName = (a: Shown, b: Shown): number => (a.name < b.name ? -1 : 1);
  expect([...withoutHashes].sort(byName)).toEqual([...expected].sort(byName));
  expect(shown.map(({ name }) => name)).toEqual(shown.map(({ name }) => name).toSorted());
  compared += shown.length;
});

test('groups are in discovery order, each with its preferred version first', async () => {
  const { json } = await api.call('GET', '/apis');
  const groups = GROUPS.filter(({ group }) => group !== '');
  expect(json.groups.map(({ name }: { name: string }) => name)).toEqual(groups.map(({ group }) => group));
  for (const { name, versions, preferredVersion } of json.groups) {
    const row = groups.find(({ group }) => group === name);
    expect(versions.map(({ version }: { version: string }) => version)).toEqual(
      row?.versions.map(({ version }) => version),
    );
    expect(preferredVersion).toEqual(versions[0]);
  }
});

test('a stored resource has the same hash in all of its versions, others have none', async () => {
  const hashes = new Map<string, Set<unknown>>();
  const hashed: string[] = [];
  for (const { group, apiVersion } of VERSIONS) {
    const { json } = await api.call('GET', `${group === '' ? '/api' : '/apis'}/${apiVersion}`);
    for (const { name, storageVersionHash } of json.resources as readonly Shown[]) {
      const key = `${group}/${name}`;
      hashes.set(key, (hashes.get(key) ?? new Set()).add(storageVersionHash));
      if (storageVersionHash !== undefined) hashed.push(name);
    }
  }
  expect(hashed.filter((name) => name.includes('/'))).toEqual([]);
  expect([...hashes].filter(([, values]) => values.size > 1)).toEqual([]);
  const listable = RESOURCES.filter(({ verbs }) => verbs.includes('create') && verbs.includes('list'));
  for (const { group, resource } of listable) {
    expect([...(hashes.get(`${group}/${resource}`) ?? [])]).toEqual([expect.stringMatching(/^.{11}=$/)]);
  }
  expect([...(hashes.get('/bindings') ?? [])]).toEqual([undefined]);
  expect([...(hashes.get(`${GROUP.authentication}/tokenreviews`) ?? [])]).toEqual([undefined]);
});

test.each([
  ['/apis/apps/v1//', undefined, 200],
  ['/api/v1///', undefined, 200],
  ['/apis//', undefined, 404],
  ['/apis/apps/v1', 'application/json', 200],
  ['/apis/apps/v1', 'application/merge-patch+json', 406],
  ['/apis/apps', 'application/merge-patch+json', 200],
])('GET %s with a body of type %s is answered %i', async (path, type, code) => {
  const headers = type === undefined ? {} : { 'content-type': type };
  expect((await api.call('GET', path, { headers })).code).toBe(code);
});

test.each([
  ['POST', '/apis', 200],
  ['POST', '/apis/apps', 200],
  ['POST', `/apis/${GROUP.apiregistration}`, 405],
  ['POST', `/apis/${GROUP.apiregistration}/`, 405],
  ['POST', '/apis/apps/v1', 405],
  ['POST', '/api', 405],
])('%s %s is answered with %i', async (method, path, code) => {
  expect((await api.call(method, path, { body: {} })).code).toBe(code);
});

test.each([
  ['/apis/apps', 'only the following media types are accepted: '],
  [`/apis/${GROUP.apiregistration}`, '406: Not Acceptable'],
  ['/apis/apps/v1', '406: Not Acceptable'],
])('an Accept header without a media type of %s returns the message "%s"', async (path, words) => {
  const { code, json } = await api.call('GET', path, { headers: { accept: 'text/html' } });
  expect([code, json.message]).toEqual([406, expect.stringContaining(words)]);
});

test('there is no aggregated discovery', async () => {
  const aggregated = `${MEDIA_TYPE.json};g=${KUBERNETES_DISCOVERY_GROUP};v=v2;as=APIGroupDiscoveryList`;
  const alone = await api.call('GET', '/apis', { headers: { accept: aggregated } });
  expect(alone.code).toBe(406);
  const { json } = await api.call('GET', '/apis', {
    headers: { accept: `${aggregated},${MEDIA_TYPE.json}` },
  });
  expect(json.kind).toBe('APIGroupList');
});

test.each([
  ['/api', ''],
  ['/api/v1', ''],
  ['/apis/extensions/v1beta1', ''],
  ['/apis', 'v1'],
  ['/apis/apps', 'v1'],
  ['/apis/apps/v1', 'v1'],
])('%s in Protobuf has version "%s" and the same content as in JSON', async (path, version) => {
  const { json } = await api.call('GET', path);
  const { text } = await api.call('GET', path, { headers: { accept: MEDIA_TYPE.protobuf } });
  // The envelope begins with the version and the kind, each after its length.
  expect(text.slice(6, text.indexOf('API') - 2)).toBe(`\n${String.fromCharCode(version.length)}${version}`);
  expect(json.apiVersion ?? '').toBe(version);
});
