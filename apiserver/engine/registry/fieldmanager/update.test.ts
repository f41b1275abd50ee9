import type { ManagedFieldsEntry } from '../../../../shared/object/object';
import { messageType, UNSTRUCTURED } from '../../../../shared/schema/types';
import { UPDATE_MANAGERS_MAX } from './track-update';
import { managerOf, MANAGER_BYTES_MAX } from './managed-kind';
import { ManagedObject } from './testing/managed-object';

const configMap = (): ManagedObject => new ManagedObject(messageType('core/v1.ConfigMap'));
const pod = (): ManagedObject => new ManagedObject(messageType('core/v1.Pod'), 'v1', { hasStatus: true });

test('the creator of an object owns the sent fields, in its version', () => {
  const object = configMap();
  object.update('one', { metadata: { name: 'a', labels: { l: '1' } }, data: { x: '1' } });
  expect(object.entries).toEqual([
    {
      manager: 'one',
      operation: 'Update',
      apiVersion: 'v1',
      time: '2021-04-08T00:00:01Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { '.': {}, 'f:x': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } },
    },
  ]);
});

test('mandatory structs have no owner, optional ones do', () => {
  const object = pod();
  object.update('one', { spec: { containers: [{ name: 'c', securityContext: { privileged: true } }] } });
  expect(object.owners).toEqual({
    'Update one': {
      'f:spec': {
        'f:containers': {
          'k:{"name":"c"}': {
            '.': {},
            'f:name': {},
            'f:resources': {},
            'f:securityContext': { '.': {}, 'f:privileged': {} },
          },
        },
      },
    },
  });
});

test('an update takes the changed fields from all managers, and no others', () => {
  const object = configMap();
  object.update('one', { data: { x: '1', y: '1' } });
  object.patch('two', { data: { x: '2', z: '1' } });
  expect(object.owners).toEqual({
    'Update one': { 'f:data': { '.': {}, 'f:y': {} } },
    'Update two': { 'f:data': { 'f:x': {}, 'f:z': {} } },
  });
});

test('a removed field has no owner, and a manager without fields is dropped', () => {
  const object = configMap();
  object.update('one', { data: { x: '1' } });
  object.patch('two', { data: { z: '1' } });
  object.patch('three', { data: { z: null } });
  expect(object.owners).toEqual({ 'Update one': { 'f:data': { '.': {}, 'f:x': {} } } });
  object.patch('three', { data: null });
  expect(object.owners).toEqual({});
  expect(object.object?.metadata).not.toHaveProperty('managedFields');
});

test('an update that changes nothing changes nothing in managedFields either', () => {
  const object = configMap();
  object.update('one', { data: { x: '1' } });
  const before = object.entries;
  object.patch('two', {});
  object.patch('two', { data: { x: '1' } });
  expect(object.entries).toBe(before);
});

test('the time of an entry changes with its set of fields, not with their values', () => {
  const object = configMap();
  object.update('one', { data: { x: '1' } });
  object.patch('one', { data: { x: '2' } });
  expect(object.entries.map(({ time }) => time)).toEqual(['2021-04-08T00:00:01Z']);
  object.patch('one', { data: { y: '2' } });
  expect(object.entries.map(({ time }) => time)).toEqual(['2021-04-08T00:00:03Z']);
});

test('valid managedFields in the object count', () => {
  const object = configMap();
  object.update('one', { data: { x: '1', y: '1' } });
  const [entry] = object.entries;
  const given = [{ ...entry, fieldsV1: { 'f:data': { 'f:y': {} } } }];
  object.patch('two', { metadata: { managedFields: given } });
  expect(object.owners).toEqual({ 'Update one': { 'f:data': { 'f:y': {} } } });
});

test.each([' ', '\0', '"'])('managers and subresources that contain %j are kept apart', (mark) => {
  const object = configMap();
  object.update('one', { data: { x: '1', y: '1' } });
  const [entry] = object.entries;
  const given = [
    { ...entry, subresource: `a${mark}b`, manager: 'c', fieldsV1: { 'f:data': { 'f:x': {} } } },
    { ...entry, subresource: 'a', manager: `b${mark}c`, fieldsV1: { 'f:data': { 'f:y': {} } } },
  ];
  object.patch('two', { metadata: { managedFields: given } });
  expect(object.owners).toEqual({
    [`Update b${mark}c`]: { 'f:data': { 'f:y': {} } },
    'Update c': { 'f:data': { 'f:x': {} } },
  });
});

test.each<[string, unknown]>([
  ['an empty list', []],
  ['null', null],
  [
    'an unknown operation',
    [{ manager: 'x', operation: 'Replace', apiVersion: 'v1', fieldsType: 'FieldsV1' }],
  ],
  ['no version', [{ manager: 'x', operation: 'Update', fieldsType: 'FieldsV1' }]],
  [
    'an unknown type of fields',
    [{ manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV2' }],
  ],
  [
    'fields that are none',
    [
      {
        manager: 'x',
        operation: 'Update',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { nonsense: {} },
      },
    ],
  ],
])('managedFields with %s are ignored', (_what, managedFields) => {
  const object = configMap();
  object.update('one', { data: { x: '1' } });
  const before = object.owners;
  object.patch('two', { metadata: { managedFields } });
  expect(object.owners).toEqual(before);
});

test('one empty entry removes all owners, and further updates track none', () => {
  const object = configMap();
  object.update('one', { data: { x: '1' } });
  object.patch('two', { metadata: { managedFields: [{}] }, data: { y: '1' } });
  expect(object.owners).toEqual({});
  object.patch('two', { data: { y: '2' } });
  expect(object.owners).toEqual({});
});

describe('items that repeat a key', () => {
  const env = (...values: string[]): object => ({
    spec: { containers: [{ name: 'c', env: values.map((value) => ({ name: 'E', value })) }] },
  });
  const owned = (item: object): object => ({
    'f:spec': { 'f:containers': { 'k:{"name":"c"}': { 'f:env': { 'k:{"name":"E"}': item } } } },
  });

  test.each<[what: string, object: object, owners: object]>([
    ['of a keyed list', env('1', '2'), owned({})],
    [
      'of a set',
      { metadata: { finalizers: ['a/b', 'a/b'] } },
      { 'f:metadata': { 'f:finalizers': { 'v:"a/b"': {} } } },
    ],
    ['inside an atomic value', { endpoints: [{ addresses: ['1.2.3.4', '1.2.3.4'] }] }, { 'f:endpoints': {} }],
  ])('%s are one member without fields', (_what, next, owners) => {
    const kind = 'endpoints' in next ? 'discovery/v1.EndpointSlice' : 'core/v1.Pod';
    const object = new ManagedObject(messageType(kind));
    object.update('one', next);
    expect(object.owners).toMatchObject({ 'Update one': owners });
  });

  test('belong to the writer that changed one of them, or that began or ended the repetition', () => {
    const object = pod();
    object.update('one', env('1'));
    object.patch('two', env('1', '2'));
    expect(object.owners).toMatchObject({ 'Update two': owned({}) });
    expect(object.owners['Update one']).not.toMatchObject(owned({}));
    object.patch('three', env('1', '3'));
    expect(object.owners).toMatchObject({ 'Update three': owned({}) });
    expect(object.owners).not.toHaveProperty('Update two');
    object.patch('four', env('4'));
    expect(object.owners).toMatchObject({ 'Update four': owned({ '.': {}, 'f:value': {} }) });
    expect(object.owners).not.toHaveProperty('Update three');
  });

  test('have the owners that they had after a write that leaves them as they are', () => {
    const object = pod();
    object.update('one', env('1', '2'));
    const before = object.owners;
    object.patch('two', { metadata: { labels: { a: 'b' } } });
    expect(object.owners).toMatchObject(before);
  });
});

test('an object with a list item that has no key is not tracked', () => {
  const object = pod();
  object.update('one', { spec: { nodeName: 'n', imagePullSecrets: [{}] } });
  expect(object.owners).toEqual({});
  object.patch('two', { spec: { imagePullSecrets: null } });
  expect(object.owners).toEqual({});
});

test('a write to the object does not own the status, one to the status owns only that', () => {
  const object = pod();
  object.update('one', { spec: { nodeName: 'n' }, status: { phase: 'Pending' } });
  expect(object.owners).toEqual({ 'Update one': { 'f:spec': { 'f:nodeName': {} } } });
  object.patch('two', { spec: { nodeName: 'm' }, status: { phase: 'Running' } }, 'status');
  expect(object.owners).toEqual({
    'Update one': { 'f:spec': { 'f:nodeName': {} } },
    'Update two': { 'f:status': { 'f:phase': {} } },
  });
});

test('the eleventh updater merges the two oldest ones', () => {
  const object = configMap();
  object.update('m0', { data: { k0: '1' } });
  for (let index = 1; index <= UPDATE_MANAGERS_MAX; index += 1) {
    object.patch(`m${String(index)}`, { data: { [`k${String(index)}`]: '1' } });
  }
  expect(object.entries).toHaveLength(UPDATE_MANAGERS_MAX);
  expect(object.entries[0]).toMatchObject({
    manager: 'ancient-changes',
    time: '2021-04-08T00:00:02Z',
    fieldsV1: { 'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {} } },
  });
  object.patch('m11', { data: { k11: '1' } });
  expect(object.entries).toHaveLength(UPDATE_MANAGERS_MAX);
  expect(object.owners['Update ancient-changes']).toEqual({
    'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {} },
  });
});

test('the former bucket is merged again, also if a clock was ahead', () => {
  const object = configMap();
  const managers = [
    'ancient-changes',
    ...Array.from({ length: UPDATE_MANAGERS_MAX }, (_, at) => `m${String(at)}`),
  ];
  const managedFields = managers.map((manager): ManagedFieldsEntry => ({
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: manager === 'ancient-changes' ? '2021-05-01T00:00:00Z' : '2021-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { [`f:${manager}`]: {} } },
  }));
  object.update('u', { metadata: { managedFields }, data: { u: '1' } });
  const merged = object.entries.filter(({ manager }) => manager === 'ancient-changes');
  expect(merged.map(({ time }) => time)).toEqual(['2021-05-01T00:00:00Z']);
  expect(object.owners['Update ancient-changes']).toEqual({
    'f:data': { 'f:ancient-changes': {}, 'f:m0': {}, 'f:m1': {}, 'f:m2': {} },
  });
});

test('thousands of updaters sent by a client are merged, one for each version', () => {
  const object = configMap();
  const given = (index: number): ManagedFieldsEntry => ({
    manager: `m${String(index)}`,
    operation: 'Update',
    apiVersion: 'v1',
    time: '2021-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { [`f:k${String(index)}`]: {} } },
  });
  object.update('u', {
    metadata: { managedFields: Array.from({ length: 20_000 }, (_, index) => given(index)) },
    data: { u: '1' },
  });
  expect(object.entries).toHaveLength(UPDATE_MANAGERS_MAX);
  const merged = object.owners['Update ancient-changes'] as Record<string, object>;
  // All but the nine youngest, of which the last is the writer.
  expect(Object.keys(merged['f:data'] ?? {})).toHaveLength(20_000 - UPDATE_MANAGERS_MAX + 2);
});

test('appliers are neither counted nor merged', () => {
  const object = configMap();
  for (let index = 0; index <= UPDATE_MANAGERS_MAX + 1; index += 1) {
    object.apply(`m${String(index)}`, { data: { [`k${String(index)}`]: '1' } });
  }
  object.patch('u', { data: { u: '1' } });
  expect(object.entries).toHaveLength(UPDATE_MANAGERS_MAX + 3);
});

test('entries are sorted: appliers first, then the oldest', () => {
  const object = configMap();
  object.update('u', { data: { u: '1' } });
  object.apply('b', { data: { b: '1' } });
  object.apply('a', { data: { a: '1' } });
  expect(Object.keys(object.owners)).toEqual(['Apply b', 'Apply a', 'Update u']);
});

test('without a schema every map is walked', () => {
  const object = new ManagedObject(UNSTRUCTURED, 'example.com/v1');
  object.update('one', { spec: { a: { b: 1 }, list: [1] } });
  expect(object.owners).toEqual({
    'Update one': { 'f:spec': { '.': {}, 'f:a': { '.': {}, 'f:b': {} }, 'f:list': {} } },
  });
});

test.each([
  ['kubectl', 'curl/7', 'kubectl'],
  ['', 'kubectl/v1.21.0 (linux/amd64)', 'kubectl'],
  ['', 'Mozilla', 'Mozilla'],
  ['', '', 'unknown'],
  ['', '/1', 'unknown'],
  ['', 'a\tb\u0000c', 'abc'],
  ['', 'x'.repeat(500), 'x'.repeat(MANAGER_BYTES_MAX)],
  ['', 'ü'.repeat(500), 'ü'.repeat(MANAGER_BYTES_MAX / 2)],
])('fieldManager %j and user agent %j make the manager %j', (fieldManager, userAgent, manager) => {
  expect(managerOf(fieldManager, userAgent)).toBe(manager);
});

test.each<[apiVersion: string, left: readonly string[]]>([
  ['v9', ['one', 'two']],
  ['a/b', ['one', 'two']],
  ['a/b/c', []],
  ['//', []],
])('an entry with apiVersion %s keeps the owners %j', (apiVersion, left) => {
  const object = configMap();
  object.update('one', { data: { x: '1' } });
  const strange: ManagedFieldsEntry = {
    manager: 's',
    operation: 'Update',
    apiVersion,
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { 'f:x': {} } },
  };
  const managedFields = [...object.entries, strange];
  object.update('two', { metadata: { managedFields }, data: { x: '1', y: '1' } });
  expect(object.entries.map(({ manager }) => manager)).toEqual(left);
});
