import * as fc from 'fast-check';
import { decodeObject } from '../schema/decode';
import { messageType, UNSTRUCTURED } from '../schema/types';
import { computeAppliedSet } from './applied';
import type { Comparison } from './compare';
import { compareObjects, isNoDifference } from './compare';
import { difference, listPaths } from './field-set';
import { mergeConfig } from './merge';
import { removeFields } from './remove';
import { ownsExactly } from './same-ownership';
import { reconcileWithShape, withNamedFields } from './schema-changes';
import { rootShape } from './shape';
import type { MessageType } from '../schema/types';

const POD = messageType('core/v1.Pod');
const SERVICE = messageType('core/v1.Service');
const CONFIG_MAP = messageType('core/v1.ConfigMap');
const DEPLOYMENT = messageType('apps/v1.Deployment');

function compared(type: MessageType, old: object, next: object): Comparison {
  const { added, modified, removed } = compareObjects(
    rootShape(type),
    decodeObject(type, old).object,
    decodeObject(type, next).object,
  );
  return { added, modified, removed };
}

function pod(container: object): object {
  return { spec: { containers: [{ name: 'a', ...container }, { name: 'b' }] } };
}

test('a new field counts with everything in it, a new key of a map by itself', () => {
  expect(compared(CONFIG_MAP, {}, { data: { x: '1' } }).added).toEqual({ 'f:data': { '.': {}, 'f:x': {} } });
  expect(compared(CONFIG_MAP, { data: { x: '1' } }, { data: { x: '1', y: '2' } }).added).toEqual({
    'f:data': { 'f:y': {} },
  });
});

test('metadata set by the server has no owner, labels and annotations have', () => {
  const next = {
    metadata: { name: 'a', namespace: 'b', uid: 'u', generation: 3, labels: { l: '1' }, generateName: 'g' },
  };
  expect(compared(CONFIG_MAP, {}, next).added).toEqual({
    'f:metadata': { 'f:generateName': {}, 'f:labels': { '.': {}, 'f:l': {} } },
  });
});

test('items of a keyed list are identified by their keys in any order', () => {
  expect(compared(POD, pod({ image: 'x' }), pod({ image: 'y' })).modified).toEqual({
    'f:spec': { 'f:containers': { 'k:{"name":"a"}': { 'f:image': {} } } },
  });
  const ports = (...list: object[]): object => ({ spec: { ports: list } });
  const a = { port: 80, protocol: 'TCP', name: 'a' };
  const b = { port: 53, protocol: 'UDP', name: 'b' };
  expect(compared(SERVICE, ports(a, b), ports(b, a))).toEqual({ added: {}, modified: {}, removed: {} });
  expect(compared(SERVICE, ports(a), ports(b))).toMatchObject({
    added: { 'f:spec': { 'f:ports': { 'k:{"port":53,"protocol":"UDP"}': { '.': {}, 'f:name': {} } } } },
    removed: { 'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:name': {} } } } },
  });
});

test('an omitted key has its default', () => {
  const shape = rootShape(SERVICE);
  expect(computeAppliedSet(shape, { spec: { ports: [{ port: 53 }] } })).toEqual({
    'f:spec': { 'f:ports': { 'k:{"port":53,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } },
  });
});

test('items of a set are identified by their value', () => {
  const finalizers = (...list: string[]): object => ({ metadata: { finalizers: list } });
  expect(compared(CONFIG_MAP, finalizers('a', 'b'), finalizers('b', 'c'))).toMatchObject({
    added: { 'f:metadata': { 'f:finalizers': { 'v:"c"': {} } } },
    removed: { 'f:metadata': { 'f:finalizers': { 'v:"a"': {} } } },
  });
});

test('lists without markers and label selectors are atomic', () => {
  expect(compared(POD, pod({ args: ['x'] }), pod({ args: ['x', 'y'] })).modified).toEqual({
    'f:spec': { 'f:containers': { 'k:{"name":"a"}': { 'f:args': {} } } },
  });
  const selector = (labels: object): object => ({ spec: { selector: { matchLabels: labels } } });
  expect(compared(DEPLOYMENT, selector({ a: '1' }), selector({ a: '1', b: '2' })).modified).toEqual({
    'f:spec': { 'f:selector': {} },
  });
});

test('items that repeat a key are atomic together', () => {
  const env = (...values: string[]): object => pod({ env: values.map((value) => ({ name: 'X', value })) });
  expect(compared(POD, env('1', '2'), env('1', '3')).modified).toEqual({
    'f:spec': { 'f:containers': { 'k:{"name":"a"}': { 'f:env': { 'k:{"name":"X"}': {} } } } },
  });
  expect(isNoDifference(compareObjects(rootShape(POD), env('1', '2'), env('1', '2')))).toBe(true);
});

test('without a schema maps are granular and lists are atomic', () => {
  const next = { spec: { list: [{ name: 'a' }], map: { deep: { x: 1 } } } };
  expect(compared(UNSTRUCTURED, { spec: { list: [] } }, next)).toMatchObject({
    added: { 'f:spec': { 'f:map': { '.': {}, 'f:deep': { '.': {}, 'f:x': {} } } } },
    modified: { 'f:spec': { 'f:list': {} } },
  });
  expect(computeAppliedSet(rootShape(UNSTRUCTURED), next)).toEqual({
    'f:spec': { '.': {}, 'f:list': {}, 'f:map': { '.': {}, 'f:deep': { '.': {}, 'f:x': {} } } },
  });
});

test('keys named like inherited properties are ordinary data', () => {
  const data = JSON.parse('{"data":{"constructor":"1","__proto__":"2","toString":"3"}}') as object;
  const plain = { data: { x: '1' } };
  expect(Object.keys(compareObjects(rootShape(CONFIG_MAP), plain, data).added['f:data'] ?? {})).toEqual([
    'f:__proto__',
    'f:constructor',
    'f:toString',
  ]);
  expect(compareObjects(rootShape(CONFIG_MAP), data, plain).removed['f:data']).toHaveProperty('f:__proto__');
});

test.each<[string, object, string]>([
  ['two items of one key', { spec: { ports: [{ port: 1 }, { port: 1 }] } }, 'duplicate entries for key'],
  ['two equal items of a set', { metadata: { finalizers: ['a', 'a'] } }, 'duplicate entries for key'],
  ['an item that is no object', { spec: { ports: ['x'] } }, 'non-map elements'],
  ['an item that is null', { spec: { ports: [null] } }, 'null element'],
  ['a map for a list', { spec: { ports: {} } }, 'expected a list'],
  ['a list for an object', { spec: [] }, 'expected an object'],
  ['a field that is not declared', { spec: { nonsense: 1 } }, '.spec.nonsense: field not declared in schema'],
])('a configuration with %s is refused', (_what, config, why) => {
  expect(() => computeAppliedSet(rootShape(SERVICE), config)).toThrow(why);
});

test('an omitted key that is always written has its zero value', () => {
  expect(computeAppliedSet(rootShape(SERVICE), { spec: { ports: [{ name: 'x' }] } })).toEqual({
    'f:spec': { 'f:ports': { 'k:{"port":0,"protocol":"TCP"}': { '.': {}, 'f:name': {} } } },
  });
  expect(() => computeAppliedSet(rootShape(POD), { spec: { imagePullSecrets: [{}] } })).toThrow(
    'omits key field "name"',
  );
});

test('granular to atomic: every owner of a part becomes an owner of the value', () => {
  const old = { 'f:spec': { 'f:replicas': {}, 'f:selector': { 'f:matchLabels': { '.': {}, 'f:a': {} } } } };
  expect(reconcileWithShape(rootShape(DEPLOYMENT), old)).toEqual({
    'f:spec': { 'f:replicas': {}, 'f:selector': {} },
  });
  const same = { 'f:spec': { 'f:replicas': {} } };
  expect(reconcileWithShape(rootShape(DEPLOYMENT), same)).toBe(same);
});

test('atomic to granular: the owner keeps the value only', () => {
  const unit = { 'f:spec': { 'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:resources': {} } } } };
  expect(reconcileWithShape(rootShape(POD), unit)).toBe(unit);
});

test('an empty or null value in a configuration is owned itself, except metadata of the root object', () => {
  const config = {
    metadata: {},
    spec: {
      template: { metadata: null, spec: { containers: [], nodeSelector: {}, volumes: null, hostname: null } },
      strategy: {},
    },
  };
  const owned = {
    'f:spec': {
      'f:strategy': {},
      'f:template': {
        'f:metadata': {},
        'f:spec': { 'f:hostname': {}, 'f:nodeSelector': {}, 'f:volumes': {} },
      },
    },
  };
  const set = computeAppliedSet(rootShape(DEPLOYMENT), config);
  expect(set).toEqual(owned);
  expect(ownsExactly(rootShape(DEPLOYMENT), config, set)).toBe(true);
  expect(ownsExactly(rootShape(DEPLOYMENT), { spec: {} }, {})).toBe(false);
  expect(ownsExactly(rootShape(DEPLOYMENT), { spec: {} }, { 'f:spec': {} })).toBe(true);
});

const value = fc.letrec<{ any: unknown; map: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>('1', '2', null, 3),
    fc.array(fc.constantFrom('a', 'b')),
    tie('map'),
  ),
  map: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('any'), { maxKeys: 3, noNullPrototype: true }),
})).map;

test('without a schema, removing the fields of a merged configuration restores the rest', () => {
  const shape = rootShape(UNSTRUCTURED);
  fc.assert(
    fc.property(value, value, (live, config) => {
      const [a, b] = [{ spec: live }, { spec: config }] as [object, object];
      const merged = mergeConfig(shape, a, b);
      const again = mergeConfig(shape, merged, b);
      expect(again).toEqual(merged);
      const { added, modified } = compareObjects(shape, a, merged);
      const owned = withNamedFields(shape, computeAppliedSet(shape, b));
      // A configuration owns what it changes.
      expect(listPaths(difference(modified, owned))).toEqual([]);
      expect(listPaths(difference(added, owned))).toEqual([]);
      const without = removeFields(shape, merged, added);
      expect(listPaths(difference(compareObjects(shape, a, without).added, modified))).toEqual([]);
    }),
  );
});
