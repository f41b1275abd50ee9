import { prune, pruneValue, PRUNED_PATHS_MAX } from './prune';
import { compileSchema } from './structural-schema';
import type { ReadonlyJson } from '../object/json';

const META = { apiVersion: 'v1', kind: 'K', metadata: { name: 'a', odd: 1 } };
const KEEP = { 'x-kubernetes-preserve-unknown-fields': true };
const object = (properties: ReadonlyJson, more: ReadonlyJson = {}): ReadonlyJson => ({
  type: 'object',
  properties,
  ...more,
});
const text = { type: 'string' };

test.each<[string, ReadonlyJson, unknown, unknown, string[]]>([
  ['an unknown field goes', object({ a: text }), { a: '1', b: '2' }, { a: '1' }, ['f.b']],
  [
    'so does one in a list',
    { type: 'array', items: object({ a: text }) },
    [{ a: '1' }, { b: 2 }],
    [{ a: '1' }, {}],
    ['f[1].b'],
  ],
  [
    'keys of a map stay, unknown fields in its values are dropped',
    { type: 'object', additionalProperties: object({ a: text }) },
    { x: { a: '1', b: 2 } },
    { x: { a: '1' } },
    ['f.x.b'],
  ],
  [
    'fields of declared name are not of the map',
    object({ a: object({}) }, { additionalProperties: KEEP }),
    { a: { x: 1 }, b: { x: 1 } },
    { a: {}, b: { x: 1 } },
    ['f.a.x'],
  ],
  [
    'fields of untyped values are unknown',
    { type: 'object', additionalProperties: true },
    { a: 1, b: { c: 1 }, d: [{ e: 1 }] },
    { a: 1, b: {}, d: [{}] },
    ['f.b.c', 'f.d[0].e'],
  ],
  [
    'unknown fields are kept where the schema says so',
    object({ a: object({}) }, KEEP),
    { a: { x: 1 }, b: { c: 1 } },
    { a: {}, b: { c: 1 } },
    ['f.a.x'],
  ],
  [
    'a list of any values keeps them',
    { type: 'array', ...KEEP },
    [{ a: 1 }, [{ b: 1 }]],
    [{ a: 1 }, [{ b: 1 }]],
    [],
  ],
  [
    'items of a list that preserves unknown fields keep theirs',
    { type: 'array', items: object({ a: object({}) }), ...KEEP },
    [{ a: { x: 1 }, b: 1 }],
    [{ a: {}, b: 1 }],
    ['f[0].a.x'],
  ],
  ['a list of objects without items loses their fields', { type: 'array' }, [{ a: 1 }], [{}], ['f[0].a']],
  [
    'metadata of an embedded resource stays',
    object({ spec: object({}) }, { 'x-kubernetes-embedded-resource': true }),
    { ...META, spec: { a: 1 }, b: 1 },
    { ...META, spec: {} },
    ['f.spec.a', 'f.b'],
  ],
  ['a scalar where an object is expected stays', object({ a: text }), 'x', 'x', []],
  ['null stays', object({ a: text }), { a: null }, { a: null }, []],
])('%s', (_, schema, value, expected, paths) => {
  const { object: kept, pruned } = prune(compileSchema(object({ f: schema })), { f: value });
  expect(kept).toEqual({ f: expected });
  expect(pruned).toEqual(paths);
});

test('the root keeps its metadata regardless of the schema', () => {
  const schema = compileSchema(object({ metadata: object({ name: text }) }));
  const given = { ...META, spec: {} };
  expect(prune(schema, given)).toEqual({ object: META, pruned: ['spec'] });
});

test('nothing is pruned with preserveUnknownFields', () => {
  const schema = compileSchema(object({ spec: object({}) }), { preserveUnknownFields: true });
  const given = { spec: { a: 1 }, b: 1 };
  expect(prune(schema, given).object).toBe(given);
});

test('an object without unknown fields is returned itself, and known parts are shared', () => {
  const schema = compileSchema(object({ a: object({ b: text }), c: object({}) }));
  const good = { a: { b: 'x' }, c: {} };
  expect(prune(schema, good).object).toBe(good);
  const bad = { ...good, c: { d: 1 } };
  const { object: kept } = prune(schema, bad);
  expect(kept['a']).toBe(good.a);
  expect(bad).toEqual({ a: { b: 'x' }, c: { d: 1 } });
});

test('the key __proto__ is an ordinary field', () => {
  const schema = compileSchema(object({ a: { type: 'object', additionalProperties: object({}) } }));
  const given = JSON.parse('{"a":{"__proto__":{"x":1}},"__proto__":{"y":1}}') as Record<string, unknown>;
  const { object: kept, pruned } = prune(schema, given);
  expect(JSON.stringify(kept)).toBe('{"a":{"__proto__":{}}}');
  expect(pruned).toEqual(['a.__proto__.x', '__proto__']);
  expect(prune(schema, JSON.parse('{"constructor":1}')).object).toEqual({});
});

test('at most PRUNED_PATHS_MAX paths are named', () => {
  const given = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${String(index)}`, 1]));
  expect(prune(compileSchema(object({})), given)).toMatchObject({ object: {} });
  expect(prune(compileSchema(object({})), given).pruned).toHaveLength(PRUNED_PATHS_MAX);
});

test('a nested value has no implicit metadata unless it is an embedded resource', () => {
  const schema = compileSchema(object({ a: text }));
  expect(pruneValue(schema, { a: 'x', kind: 'K' })).toEqual({ a: 'x' });
  const embedded = compileSchema(object({ a: text }, { 'x-kubernetes-embedded-resource': true }));
  expect(pruneValue(embedded, { a: 'x', kind: 'K', b: 1 })).toEqual({ a: 'x', kind: 'K' });
});
