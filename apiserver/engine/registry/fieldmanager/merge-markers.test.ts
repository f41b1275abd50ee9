import { StatusError } from '../../../../shared/errors/status-error';
import type { KindType } from '../../../../shared/schema/types';
import { kindType, UNSTRUCTURED } from '../../../../shared/schema/types';
import { ManagedObject } from './testing/managed-object';

/** The field of a conflict, or undefined when the write went through. */
function conflictOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return error.status.details?.causes?.[0]?.field ?? error.message;
  }
}

const POD = kindType('core/v1.Pod');
const SERVICE = kindType('core/v1.Service');
const container = (fields: object): object => ({ spec: { containers: [{ name: 'c', ...fields }] } });

/** What two managers apply to one place, and whether the second is in conflict with the first: only where the place is one unit. */
const MARKERS: readonly (readonly [
  what: string,
  type: KindType,
  one: object,
  two: object,
  conflict: string | undefined,
])[] = [
  [
    'an atomic list',
    POD,
    container({ args: ['a'] }),
    container({ args: ['b'] }),
    '.spec.containers[name="c"].args',
  ],
  ['a set', POD, { metadata: { finalizers: ['a'] } }, { metadata: { finalizers: ['b'] } }, undefined],
  [
    'a list that is a map by its keys',
    SERVICE,
    { spec: { ports: [{ port: 80, protocol: 'TCP' }] } },
    { spec: { ports: [{ port: 80, protocol: 'UDP' }] } },
    undefined,
  ],
  [
    'an item of it, by another field',
    SERVICE,
    { spec: { ports: [{ port: 80, protocol: 'TCP', name: 'a' }] } },
    { spec: { ports: [{ port: 80, protocol: 'TCP', name: 'b' }] } },
    '.spec.ports[port=80,protocol="TCP"].name',
  ],
  [
    'a list without type that merges by a key, as patches have it',
    POD,
    container({ env: [{ name: 'A', value: '1' }] }),
    container({ env: [{ name: 'B', value: '1' }] }),
    undefined,
  ],
  [
    'a granular map',
    POD,
    { metadata: { labels: { a: '1' } } },
    { metadata: { labels: { b: '1' } } },
    undefined,
  ],
  [
    'a map of labels that selects, which carries no mark in v1.21',
    POD,
    { spec: { nodeSelector: { a: '1' } } },
    { spec: { nodeSelector: { b: '1' } } },
    undefined,
  ],
  [
    'a granular struct',
    POD,
    { spec: { securityContext: { runAsUser: 1 } } },
    { spec: { securityContext: { runAsGroup: 1 } } },
    undefined,
  ],
  [
    'an atomic struct',
    kindType('apps/v1.Deployment'),
    { spec: { selector: { matchLabels: { a: '1' } } } },
    { spec: { selector: { matchExpressions: [{ key: 'b', operator: 'Exists' }] } } },
    '.spec.selector',
  ],
  ['a list without schema', UNSTRUCTURED, { spec: { list: ['a'] } }, { spec: { list: ['b'] } }, '.spec.list'],
  [
    'a list of objects without schema',
    UNSTRUCTURED,
    { spec: { list: [{ name: 'a' }] } },
    { spec: { list: [{ name: 'b' }] } },
    '.spec.list',
  ],
  [
    'a map without schema',
    UNSTRUCTURED,
    { spec: { map: { a: '1' } } },
    { spec: { map: { b: '1' } } },
    undefined,
  ],
];

describe('rule 7: markers make values atomic', () => {
  test.each(MARKERS)('%s', (_what, type, one, two, conflict) => {
    const object = new ManagedObject(type);
    object.apply('one', one);
    const before = object.object;
    expect(conflictOf(() => object.apply('two', two))).toBe(conflict);
    const owners = conflict === undefined ? ['Apply one', 'Apply two'] : ['Apply one'];
    expect(Object.keys(object.owners)).toEqual(owners);
    expect(conflict === undefined || object.object === before).toBe(true);
    object.apply('two', two, { force: true });
    object.apply('two', {});
    expect(conflictOf(() => object.apply('one', one))).toBeUndefined();
  });
});

describe('rule 8: a change of the markers', () => {
  const DEPLOYMENT = kindType('apps/v1.Deployment');
  const PARTS = { 'f:spec': { 'f:selector': { 'f:matchLabels': { 'f:a': {} } } } };

  test('granular to atomic: every owner of a part becomes an owner of the list', () => {
    const object = new ManagedObject(DEPLOYMENT, 'apps/v1');
    object.apply('one', { spec: { selector: { matchLabels: { a: '1' } } } });
    const [entry] = object.entries;
    object.patch('x', { metadata: { managedFields: [{ ...entry, fieldsV1: PARTS }] } });
    const other = { spec: { selector: { matchLabels: { a: '1', b: '1' } } } };
    expect(conflictOf(() => object.apply('two', other))).toBe('.spec.selector');
    object.apply('one', other);
    expect(object.owners).toEqual({ 'Apply one': { 'f:spec': { 'f:selector': {} } } });
  });

  test('atomic to granular: no conflict, because the parts have no known owner', () => {
    const object = new ManagedObject(UNSTRUCTURED, 'example.com/v1');
    object.apply('one', { spec: { map: { a: '1' } } });
    const [entry] = object.entries;
    const unit = { 'f:spec': { '.': {}, 'f:map': {} } };
    object.patch('x', { metadata: { managedFields: [{ ...entry, fieldsV1: unit }] } });
    expect(conflictOf(() => object.apply('two', { spec: { map: { a: '2' } } }))).toBeUndefined();
    expect(object.data('spec')).toEqual({ map: { a: '2' } });
  });
});

describe('rule 10: a subresource', () => {
  test('of the object itself owns only what it can change', () => {
    const object = new ManagedObject(POD, 'v1', { hasStatus: true });
    object.apply('one', container({ image: 'i' }));
    object.apply(
      'two',
      { ...container({ image: 'other' }), status: { phase: 'Running' } },
      { subresource: 'status' },
    );
    expect(object.owners['Apply two']).toEqual({ 'f:status': { 'f:phase': {} } });
    object.apply('one', { ...container({ image: 'i' }), status: { phase: 'Failed' } });
    expect(object.owners['Apply one']).not.toHaveProperty('f:status');
  });
});
