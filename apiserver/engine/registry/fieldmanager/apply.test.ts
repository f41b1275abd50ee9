import { ANNOTATION } from '../../../../shared/names';
import type { StatusCause } from '../../../../shared/errors/status-error';
import { StatusError } from '../../../../shared/errors/status-error';
import type { ManagedFieldsEntry } from '../../../../shared/object/object';
import { messageType, UNSTRUCTURED } from '../../../../shared/schema/types';
import { ManagedObject } from './testing/managed-object';

const configMap = (): ManagedObject => new ManagedObject(messageType('core/v1.ConfigMap'));
const service = (): ManagedObject => new ManagedObject(messageType('core/v1.Service'));
const pod = (): ManagedObject => new ManagedObject(messageType('core/v1.Pod'), 'v1', { hasStatus: true });
const deployment = (): ManagedObject => new ManagedObject(messageType('apps/v1.Deployment'), 'apps/v1');
const custom = (): ManagedObject => new ManagedObject(UNSTRUCTURED, 'example.com/v1');

function refusal(run: () => unknown): {
  reason: string | undefined;
  message: string | undefined;
  causes: readonly StatusCause[];
} {
  try {
    run();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { reason, message, details } = error.status;
    return { reason, message, causes: details?.causes ?? [] };
  }
  throw new Error('nothing was refused');
}

test('an applier that drops a large map shared with thousands of managers removes nothing', () => {
  const object = configMap();
  const keys = Array.from({ length: 5_000 }, (_, index) => `k${String(index)}`);
  const entry = (manager: string, owned: readonly string[]): ManagedFieldsEntry => ({
    manager,
    operation: 'Apply',
    apiVersion: 'v1',
    time: '2021-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': Object.fromEntries(owned.map((key) => [`f:${key}`, {}])) },
  });
  object.update('u', { data: Object.fromEntries(keys.map((key) => [key, 'v'])) });
  const managedFields = [...keys.map((key) => entry(`of-${key}`, [key])), entry('all', keys)];
  object.patch('u', { metadata: { managedFields } });
  object.apply('all', { data: { k0: 'w' } }, { force: true });
  expect(Object.keys(object.data('data') as object)).toHaveLength(5_000);
  expect(object.owners['Apply all']).toEqual({ 'f:data': { 'f:k0': {} } });
  expect(object.owners['Apply of-k0']).toBeUndefined();
  expect(object.entries).toHaveLength(5_000);
});

test('an applier owns exactly what it applied', () => {
  const object = configMap();
  object.apply('one', { metadata: { name: 'a', labels: { l: '1' } }, data: { x: '1' } });
  expect(object.entries).toEqual([
    {
      manager: 'one',
      operation: 'Apply',
      apiVersion: 'v1',
      time: '2021-04-08T00:00:01Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:x': {} }, 'f:metadata': { 'f:labels': { 'f:l': {} } } },
    },
  ]);
});

test('a repeated apply changes nothing, not even the time', () => {
  const object = pod();
  const config = { spec: { containers: [{ name: 'c', image: 'i', env: [{ name: 'E', value: 'v' }] }] } };
  object.apply('one', config);
  const before = object.entries;
  object.apply('one', config);
  expect(object.entries).toBe(before);
});

test('a value in another spelling is no change', () => {
  const object = pod();
  const limits = (cpu: string): object => ({
    spec: { containers: [{ name: 'c', resources: { limits: { cpu } } }] },
  });
  object.apply('one', limits('1'));
  const before = object.entries;
  object.apply('one', limits('1000m'));
  expect(object.entries).toBe(before);
});

test('a change of a field of another applier is a conflict with the field and the manager', () => {
  const object = configMap();
  object.apply('one', { data: { x: '1', y: '1' } });
  expect(refusal(() => object.apply('two', { data: { x: '2' } }))).toEqual({
    reason: 'Conflict',
    message: 'Apply failed with 1 conflict: conflict with "one": .data.x',
    causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.x' }],
  });
  expect(refusal(() => object.apply('two', { data: { x: '2', y: '2' } })).message).toBe(
    'Apply failed with 2 conflicts: conflicts with "one":\n- .data.x\n- .data.y',
  );
  expect(object.data('data')).toEqual({ x: '1', y: '1' });
});

test('a change of a field of an updater is a conflict with its version', () => {
  const object = configMap();
  object.update('one', { data: { x: '1' } });
  expect(refusal(() => object.apply('two', { data: { x: '2' } })).message).toBe(
    'Apply failed with 1 conflict: conflict with "one" using v1: .data.x',
  );
});

test('force makes the applier the only owner of the field', () => {
  const object = configMap();
  object.apply('one', { data: { x: '1', y: '1' } });
  object.apply('two', { data: { x: '2' } }, { force: true });
  expect(object.data('data')).toEqual({ x: '2', y: '1' });
  expect(object.owners).toEqual({
    'Apply one': { 'f:data': { 'f:y': {} } },
    'Apply two': { 'f:data': { 'f:x': {} } },
  });
});

test('an applier that lost a field may drop it from its configuration', () => {
  const object = configMap();
  object.apply('one', { data: { x: '1', y: '1' } });
  object.apply('two', { data: { x: '2' } }, { force: true });
  expect(refusal(() => object.apply('one', { data: { x: '1', y: '1' } })).reason).toBe('Conflict');
  object.apply('one', { data: { y: '1' } });
  expect(object.data('data')).toEqual({ x: '2', y: '1' });
});

test('appliers of one value share it; a change by one of them is a conflict', () => {
  const object = configMap();
  object.apply('one', { data: { x: '1' } });
  object.apply('two', { data: { x: '1' } });
  expect(object.owners).toEqual({
    'Apply one': { 'f:data': { 'f:x': {} } },
    'Apply two': { 'f:data': { 'f:x': {} } },
  });
  expect(refusal(() => object.apply('one', { data: { x: '2' } })).message).toContain('"two"');
});

test('a dropped field is removed unless another manager owns it', () => {
  const object = configMap();
  object.apply('one', { data: { x: '1', y: '1' } });
  object.apply('two', { data: { x: '1' } });
  object.apply('one', { data: {} });
  expect(object.data('data')).toEqual({ x: '1' });
  object.apply('two', { data: {} });
  expect(object.object).not.toHaveProperty('data');
  expect(object.owners).toEqual({ 'Apply one': { 'f:data': {} }, 'Apply two': { 'f:data': {} } });
  object.apply('one', {});
  object.apply('two', {});
  expect(object.owners).toEqual({});
});

test.each([
  [
    'an undeclared field',
    { addresses: ['a'], nodeNames: 1 },
    '.endpoints[0].nodeNames: field not declared in schema',
  ],
  [
    'one in a struct',
    { addresses: ['a'], conditions: { ok: true } },
    '.endpoints[0].conditions.ok: field not declared in schema',
  ],
  ['a repeated item', { addresses: ['a', 'a'] }, '.endpoints[0].addresses: duplicate entries for key [="a"]'],
])('%s inside an atomic value is refused', (_what, endpoint, fault) => {
  const object = new ManagedObject(messageType('discovery/v1.EndpointSlice'));
  object.apply('one', { endpoints: [{ addresses: ['a'] }] });
  const refused = refusal(() => object.apply('one', { endpoints: [endpoint] }));
  expect([refused.reason, refused.message]).toEqual([
    'BadRequest',
    `failed to create typed patch object: ${fault}`,
  ]);
});

test('an applier that drops a field of an updater does not remove it', () => {
  const object = configMap();
  object.apply('one', { data: { x: '1', y: '1' } });
  object.patch('two', { data: { x: '2' } });
  object.apply('one', { data: { y: '1' } });
  expect(object.data('data')).toEqual({ x: '2', y: '1' });
});

test('an updater takes a field from an applier, whose next apply is a conflict', () => {
  const object = configMap();
  object.apply('one', { data: { x: '1' } });
  object.patch('two', { data: { x: '2' } });
  expect(object.owners).toEqual({ 'Update two': { 'f:data': { 'f:x': {} } } });
  expect(refusal(() => object.apply('one', { data: { x: '1' } })).causes).toHaveLength(1);
});

test('items of a keyed list are merged, owned and removed one by one', () => {
  const object = service();
  const port = (number: number, name: string): object => ({ port: number, name, protocol: 'TCP' });
  object.apply('one', { spec: { ports: [port(80, 'a')] } });
  object.apply('two', { spec: { ports: [port(81, 'b')] } });
  expect(object.data('spec')).toMatchObject({ ports: [port(80, 'a'), port(81, 'b')] });
  expect(refusal(() => object.apply('two', { spec: { ports: [port(80, 'z')] } })).causes[0]?.field).toBe(
    '.spec.ports[port=80,protocol="TCP"].name',
  );
  object.apply('one', { spec: { ports: [] } });
  expect(object.data('spec')).toMatchObject({ ports: [port(81, 'b')] });
  expect(Object.keys(object.owners)).toEqual(['Apply two']);
});

test('a removed item keeps the fields of other managers', () => {
  const object = pod();
  object.apply('one', { spec: { containers: [{ name: 'c', image: 'i', workingDir: '/w' }] } });
  object.apply('two', { spec: { containers: [{ name: 'c', stdin: true }] } });
  object.apply('one', { spec: {} });
  expect(object.data('spec')).toMatchObject({ containers: [{ name: 'c', stdin: true }] });
  expect(JSON.stringify(object.data('spec'))).not.toContain('/w');
});

test('a struct that loses its last field is removed, also if a manager owns the struct', () => {
  const object = deployment();
  const probe = { exec: { command: ['a'] } };
  object.update('u', { spec: { template: { spec: { containers: [{ name: 'c', livenessProbe: probe }] } } } });
  const changed = { exec: { command: ['b'] } };
  object.apply(
    'one',
    { spec: { template: { spec: { containers: [{ name: 'c', livenessProbe: changed }] } } } },
    { force: true },
  );
  expect(JSON.stringify(object.owners['Update u'])).toContain('"f:exec":{}');
  object.apply('one', { spec: { template: { spec: { containers: [{ name: 'c' }] } } } });
  expect(JSON.stringify(object.data('spec'))).not.toContain('exec');
  const open = custom();
  open.update('u', { spec: { map: { a: '1' } } });
  open.apply('one', { spec: { map: { a: '2' } } }, { force: true });
  open.apply('one', { spec: {} });
  expect(open.data('spec')).toEqual({ map: {} });
});

test('a missing key of an item is its default', () => {
  const object = service();
  object.apply('one', { spec: { ports: [{ port: 53, protocol: 'TCP', name: 'a' }] } });
  object.apply('one', { spec: { ports: [{ port: 53, name: 'b' }] } });
  expect(object.data('spec')).toMatchObject({ ports: [{ port: 53, name: 'b' }] });
});

test('items of a set are owned and removed one by one', () => {
  const object = configMap();
  const finalizers = (...list: string[]): object => ({ metadata: { finalizers: list } });
  object.apply('one', finalizers('x/a', 'x/b'));
  object.apply('two', finalizers('x/b', 'x/c'));
  expect(object.object?.metadata.finalizers).toEqual(['x/a', 'x/b', 'x/c']);
  object.apply('one', finalizers('x/a'));
  expect(object.object?.metadata.finalizers).toEqual(['x/a', 'x/b', 'x/c']);
  object.apply('two', {});
  expect(object.object?.metadata.finalizers).toEqual(['x/a']);
});

test('an atomic value is owned as a whole: another value is a conflict', () => {
  const object = deployment();
  object.apply('one', { spec: { selector: { matchLabels: { a: '1' } } } });
  expect(object.owners).toEqual({ 'Apply one': { 'f:spec': { 'f:selector': {} } } });
  const other = { spec: { selector: { matchLabels: { b: '1' } } } };
  expect(refusal(() => object.apply('two', other)).causes[0]?.field).toBe('.spec.selector');
  object.apply('two', other, { force: true });
  expect(object.data('spec')).toMatchObject({ selector: { matchLabels: { b: '1' } } });
  expect(JSON.stringify(object.data('spec'))).not.toContain('"a"');
});

test('granular to atomic: every owner of a part becomes an owner of the whole', () => {
  const object = deployment();
  object.apply('one', { spec: { selector: { matchLabels: { a: '1' } } } });
  const [entry] = object.entries;
  const parts = { 'f:spec': { 'f:selector': { 'f:matchLabels': { 'f:a': {} } } } };
  object.patch('x', { metadata: { managedFields: [{ ...entry, fieldsV1: parts }] } });
  const other = { spec: { selector: { matchLabels: { b: '1' } } } };
  expect(refusal(() => object.apply('two', other)).causes[0]?.field).toBe('.spec.selector');
});

test('an empty struct has no owner', () => {
  const object = pod();
  object.apply('one', { spec: { securityContext: { runAsUser: 1 } } });
  object.apply('one', { spec: {} });
  expect(object.data('spec')).not.toHaveProperty('securityContext.runAsUser');
});

test('apply creates a missing object and owns it', () => {
  const object = custom();
  object.apply('one', { spec: { n: 1 } });
  expect(object.owners).toEqual({ 'Apply one': { 'f:spec': { '.': {}, 'f:n': {} } } });
});

test('the first apply to an object without owners assigns its fields to before-first-apply', () => {
  const object = configMap();
  object.update('one', { data: { x: '1' } });
  object.patch('one', { metadata: { managedFields: [{}] } });
  expect(refusal(() => object.apply('two', { data: { x: '2' } })).message).toContain(
    '"before-first-apply" using v1',
  );
  object.apply('two', { data: { x: '1' } });
  expect(Object.keys(object.owners)).toEqual(['Apply two', 'Update before-first-apply']);
});

test('an apply to a subresource does not own reset fields', () => {
  const object = pod();
  object.apply('one', { spec: { nodeName: 'n' }, status: { phase: 'x' } });
  expect(object.owners).toEqual({ 'Apply one': { 'f:spec': { 'f:nodeName': {} } } });
  const status = { spec: { nodeName: 'm' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  object.apply('two', status, { subresource: 'status' });
  expect(object.owners['Apply two']).toEqual({
    'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { '.': {}, 'f:status': {}, 'f:type': {} } } },
  });
});

test('kubectl takes over unchanged fields of client-side apply', () => {
  const object = configMap();
  const name = ANNOTATION.lastAppliedConfiguration;
  const last = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: '1', y: '1' } };
  object.update('kubectl-client-side-apply', {
    ...last,
    metadata: { name: 'a', annotations: { [name]: JSON.stringify(last) } },
  });
  object.patch('other', { data: { y: '2' } });
  const refused = refusal(() => object.apply('kubectl', { data: { x: '3', y: '3' } }));
  expect(refused.causes.map(({ field }) => field)).toEqual(['.data.y']);
  expect(refusal(() => object.apply('somebody', { data: { x: '3' } })).causes).toHaveLength(1);
  object.apply('kubectl', { apiVersion: 'v1', kind: 'ConfigMap', data: { x: '3' } });
  expect(object.data('data')).toEqual({ x: '3', y: '2' });
  expect(JSON.parse(object.object?.metadata.annotations?.[name] ?? '')).toMatchObject({ data: { x: '3' } });
});

test('without a schema lists are atomic and maps are granular', () => {
  const object = custom();
  object.apply('one', { spec: { list: ['a'], map: { a: '1' } } });
  object.apply('two', { spec: { map: { b: '1' } } });
  expect(object.data('spec')).toEqual({ list: ['a'], map: { a: '1', b: '1' } });
  expect(
    refusal(() => object.apply('two', { spec: { list: ['b'], map: { b: '1' } } })).causes[0]?.field,
  ).toBe('.spec.list');
  object.apply('one', { spec: { list: ['a'] } });
  expect(object.data('spec')).toEqual({ list: ['a'], map: { b: '1' } });
});

describe('an apply to an object with items that repeat a key', () => {
  const item = (value: string): object => ({ name: 'E', value });
  const env = (...values: string[]): object => ({
    spec: { containers: [{ name: 'c', env: values.map(item) }] },
  });
  const valuesIn = (object: ManagedObject): unknown =>
    (object.data('spec') as { containers: readonly { env?: unknown }[] }).containers[0]?.env;

  test('of other fields leaves them, and can be repeated', () => {
    const object = pod();
    object.update('one', env('1', '2'));
    object.apply('two', { metadata: { labels: { a: 'b' } } });
    expect(valuesIn(object)).toEqual([item('1'), item('2')]);
    const before = object.object;
    object.apply('two', { metadata: { labels: { a: 'b' } } });
    expect(object.object).toBe(before);
  });

  test('replaces all of them by the applied item, which merges with none', () => {
    const object = pod();
    object.update('one', env('1', '2'));
    const applied = { spec: { containers: [{ name: 'c', env: [{ name: 'E' }] }] } };
    expect(refusal(() => object.apply('two', applied)).causes[0]?.field).toBe(
      '.spec.containers[name="c"].env[name="E"]',
    );
    object.apply('two', applied, { force: true });
    expect(valuesIn(object)).toEqual([{ name: 'E' }]);
    expect(object.owners['Update one']).not.toHaveProperty([
      'f:spec',
      'f:containers',
      'k:{"name":"c"}',
      'f:env',
      'k:{"name":"E"}',
    ]);
  });
});

test.each<[string, object, string]>([
  ['managedFields', { metadata: { managedFields: [{}] } }, 'metadata.managedFields must be nil'],
  ['a field that is not declared', { nonsense: 1 }, 'field not declared in schema'],
  ['two items of one key', { metadata: { finalizers: ['a', 'a'] } }, 'duplicate entries for key [="a"]'],
  ['a list where a map belongs', { data: [] }, '.data: expected an object'],
])('a configuration with %s is refused', (_what, config, why) => {
  const { reason, message } = refusal(() => configMap().apply('one', config));
  expect(reason).toBe('BadRequest');
  expect(message).toContain(why);
});
