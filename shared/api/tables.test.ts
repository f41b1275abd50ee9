import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { GROUP } from '../names';
import { messageNames, messageType } from '../schema/types';
import { loadInDialect } from '../testing/load-at-level';
import type * as Groups from './groups';
import type * as Resources from './resources';
import { RESOURCE } from './resource-names';
import { ALL_LEVELS, VERIFIED_LEVELS } from '../api-level';
import { parseGroupVersion, resourceOf, RESOURCES, resourcesAt } from './resources';
import { SCHEMA_DATA } from './tables';

test('every message links, and each field is unique by number and by its name in JSON', () => {
  for (const name of messageNames()) {
    const type = messageType(name);
    const numbers = type.declared.map((field) => field.number);
    expect({ name, numbers: new Set(numbers).size }).toEqual({ name, numbers: numbers.length });
    expect({ name, names: type.byName.size }).toEqual({ name, names: type.fields.length });
  }
});

test('every file of messages is part of the tables', () => {
  const source = readFileSync(path.join(__dirname, 'tables.ts'), 'utf8');
  const files = readdirSync(path.join(__dirname, 'data/schema'));
  expect(files.filter((file) => !source.includes(`'./data/schema/${file}'`))).toEqual([]);
});

test('no field has a name that every JavaScript object inherits', () => {
  const names = messageNames().flatMap((name) => messageType(name).fields.map((field) => field.name));
  expect(names.filter((name) => name in {})).toEqual([]);
});

/** Messages that no row references, and their use. */
const ROOTS = [
  // Sent to webhooks.
  'admission/v1.AdmissionReview',
  'admission/v1beta1.AdmissionReview',
  // Discovery.
  'apidiscovery/v2.APIGroupDiscoveryList',
  'apidiscovery/v2beta1.APIGroupDiscoveryList',
  'meta/v1.APIGroup',
  'meta/v1.APIGroupList',
  'meta/v1.APIResourceList',
  'meta/v1.APIVersions',
  // Part of every group version.
  'meta/v1.DeleteOptions',
  'meta/v1.Status',
  'meta/v1.WatchEvent',
  // Representations of any object.
  'meta/v1.PartialObjectMetadata',
  'meta/v1.PartialObjectMetadataList',
  'meta/v1beta1.PartialObjectMetadataList',
];

test('every message is reachable from a row or a root', () => {
  const rows = ([...VERIFIED_LEVELS, ALL_LEVELS] as const)
    .flatMap((level) => resourcesAt(level))
    .flatMap(({ schema, listKind, subresources }) => [
      schema,
      ...(listKind === '' ? [] : [`${schema}List`]),
      ...subresources.map((each) => each.schema),
    ]);
  const reached = new Set([...rows, ...ROOTS]);
  for (const name of reached) {
    for (const level of [...VERIFIED_LEVELS, ALL_LEVELS] as const)
      for (const { message } of messageType(name, level).declared)
        if (message !== undefined) reached.add(message.name);
  }
  expect(messageNames(ALL_LEVELS).filter((name) => !reached.has(name))).toEqual([]);
  expect(ROOTS.filter((name) => rows.includes(name))).toEqual([]);
});

const MESSAGE_PROPERTIES = ['kind', 'doc', 'fields', 'since', 'until', 'atomic', 'required', 'unions'];
const FIELD_PROPERTIES = [
  'default',
  'doc',
  'enum',
  'inline',
  'keepsEmpty',
  'list',
  'listMapKeys',
  'listType',
  'map',
  'mapType',
  'n',
  'omitempty',
  'omitzero',
  'optional',
  'patchMergeKey',
  'patchStrategy',
  'ptr',
  'since',
  'structType',
  't',
  'until',
  'upTo',
];

test('every group has its own file without unknown properties', () => {
  const folder = path.join(__dirname, 'data', 'schema');
  for (const file of readdirSync(folder)) {
    const packages = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as typeof SCHEMA_DATA;
    for (const [packageName, messages] of Object.entries(packages)) {
      expect(`${packageName.split('/')[0]}.json`).toBe(file);
      expect(SCHEMA_DATA[packageName]).toEqual(messages);
      for (const message of Object.values(messages)) {
        expect(MESSAGE_PROPERTIES).toEqual(expect.arrayContaining(Object.keys(message)));
        for (const field of Object.values(message.fields)) {
          expect(FIELD_PROPERTIES).toEqual(expect.arrayContaining(Object.keys(field)));
        }
      }
    }
  }
});

test('a required message without a pointer never contains itself, so that its zero value is finite', () => {
  const visit = (name: string, above: readonly string[]): void => {
    expect(above).not.toContain(name);
    for (const field of messageType(name).fields) {
      const isValue = field.kind === 'message' && !field.pointer && !field.list && !field.map;
      if (isValue && field.message !== undefined) visit(field.message.name, [...above, name]);
    }
  };
  for (const name of messageNames()) visit(name, []);
});

test('every resource, its list and its subresources have a message that is a kind', () => {
  const kinds = RESOURCES.flatMap((row) => [row.schema, ...row.subresources.map(({ schema }) => schema)]);
  expect(kinds.filter((schema) => !messageType(schema).typeMeta)).toEqual([]);
  const lists = RESOURCES.filter(({ listKind }) => listKind !== '').map(({ schema }) =>
    messageType(`${schema}List`),
  );
  expect(lists.filter((type) => !type.typeMeta || type.byName.get('items')?.list !== true)).toEqual([]);
});

test('every hub is a row and its own hub', () => {
  for (const row of RESOURCES) {
    const hub = resourceOf(row.hub, row.resource);
    expect({ row: row.schema, hub: hub?.hub }).toEqual({ row: row.schema, hub: row.hub });
  }
});

describe.each([
  ['orch', 'rbac.authorization.orch', 'scheduling.orch'],
  ['kubernetes', 'rbac.authorization.k8s.io', 'scheduling.k8s.io'],
])('in the %s dialect', (dialect, rbac, scheduling) => {
  let resources: typeof Resources;
  let groups: typeof Groups;

  beforeAll(() => {
    [resources, groups] = loadInDialect(dialect, () => [
      jest.requireActual<typeof Resources>('./resources'),
      jest.requireActual<typeof Groups>('./groups'),
    ]);
  });

  test('rows, subresources and replacements have the names of the dialect', () => {
    const roles = resources.resourceOf({ group: rbac, version: 'v1' }, 'roles');
    expect(roles).toMatchObject({
      kind: 'Role',
      listKind: 'RoleList',
      namespaced: true,
      schema: 'rbac/v1.Role',
    });
    const old = resources.resourceOf({ group: scheduling, version: 'v1beta1' }, 'priorityclasses');
    expect(old?.replacement).toEqual({ group: scheduling, version: 'v1', kind: 'PriorityClass' });
    const eviction = resources
      .resourceOf({ group: '', version: 'v1' }, 'pods')
      ?.subresources.find(({ name }) => name === 'eviction');
    expect(eviction).toEqual({
      name: 'eviction',
      kind: 'Eviction',
      group: 'policy',
      version: 'v1beta1',
      verbs: ['create'],
      schema: 'policy/v1beta1.Eviction',
    });
  });

  test('every served group and version has a priority, and every priority a row', () => {
    const served = new Set(resources.RESOURCES.map(({ group, version }) => `${group}/${version}`));
    const listed = groups.GROUPS.flatMap(({ group, versions }) =>
      versions.map(({ version }) => `${group}/${version}`),
    );
    expect(new Set(listed)).toEqual(served);
  });
});

test('the core group comes first, falling priority decides, and stable versions are preferred', () => {
  const { GROUPS, preferredVersion } = jest.requireActual<typeof Groups>('./groups');
  const priorities = GROUPS.map(({ priority }) => priority);
  expect(priorities).toEqual([...priorities].sort((a, b) => b - a));
  expect(GROUPS[0]?.group).toBe('');
  const order = GROUPS.map(({ group }) => group);
  // Clients that look for `ingresses` use the first group that has them.
  expect(order.indexOf(GROUP.networking)).toBeLessThan(order.indexOf(GROUP.extensions));
  expect(preferredVersion('autoscaling')).toBe('v1');
  expect(preferredVersion('policy')).toBe('v1');
  expect(preferredVersion('example.com')).toBeUndefined();
});

test('an apiVersion is a version in the core group, or a group and a version', () => {
  expect(parseGroupVersion('v1')).toEqual({ group: '', version: 'v1' });
  expect(parseGroupVersion('apps/v1')).toEqual({ group: 'apps', version: 'v1' });
});

test('RESOURCE has one entry for each stored resource', () => {
  const stored = resourcesAt(ALL_LEVELS).filter(
    ({ group, version, hub }) => group === hub.group && version === hub.version,
  );
  expect(Object.keys(RESOURCE).toSorted()).toEqual(stored.map(({ resource }) => resource).toSorted());
});
