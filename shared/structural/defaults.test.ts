import { DEFAULTED_CHARS_MAX, TooManyDefaultsError, withDefaults } from './defaults';
import { compileSchema } from './structural-schema';
import type { ReadonlyJson } from '../object/json';

const object = (properties: ReadonlyJson, more: ReadonlyJson = {}): ReadonlyJson => ({
  type: 'object',
  properties,
  ...more,
});
const x = { type: 'string', default: 'x' };

test.each<[string, ReadonlyJson, ReadonlyJson, ReadonlyJson]>([
  ['a missing field gets its default', object({ a: x }), {}, { a: 'x' }],
  ['a field that is there keeps its value', object({ a: x }), { a: '' }, { a: '' }],
  ['a null that may not be gets the default', object({ a: x }), { a: null }, { a: 'x' }],
  ['a null that may be stays', object({ a: { ...x, nullable: true } }), { a: null }, { a: null }],
  [
    'a null that is not allowed and has no default is dropped',
    object({ a: { type: 'string' } }),
    { a: null, b: null },
    { b: null },
  ],
  ['a missing object is not made for the defaults in it', object({ a: object({ b: x }) }), {}, {}],
  ['an empty object gets the defaults in it', object({ a: object({ b: x }) }), { a: {} }, { a: { b: 'x' } }],
  [
    'a default gets the defaults in it',
    object({ a: object({ b: x }, { default: { c: 1 } }) }),
    {},
    { a: { c: 1, b: 'x' } },
  ],
  [
    'items of lists get defaults',
    object({ a: { type: 'array', items: object({ b: x }) } }),
    { a: [{}, { b: 'y' }, null] },
    { a: [{ b: 'x' }, { b: 'y' }, null] },
  ],
  [
    'a null item gets the default of items',
    object({ a: { type: 'array', items: x } }),
    { a: ['a', null] },
    { a: ['a', 'x'] },
  ],
  [
    'values of maps get defaults',
    object({ a: { type: 'object', additionalProperties: object({ b: x }) } }),
    { a: { k: {} } },
    { a: { k: { b: 'x' } } },
  ],
  [
    'a null in a map goes',
    object({ a: { type: 'object', additionalProperties: { type: 'string' } } }),
    { a: { k: null, l: 'y' } },
    { a: { l: 'y' } },
  ],
  [
    'a null in an unknown field stays',
    object({}, { 'x-kubernetes-preserve-unknown-fields': true }),
    { a: { b: null } },
    { a: { b: null } },
  ],
  ['null as a default is none', object({ a: { type: 'string', nullable: true, default: null } }), {}, {}],
  [
    'false and 0 are defaults',
    object({ a: { type: 'boolean', default: false }, b: { type: 'integer', default: 0 } }),
    {},
    { a: false, b: 0 },
  ],
])('%s', (_, schema, given, expected) => {
  const before = structuredClone(given);
  expect(withDefaults(compileSchema(schema), given)).toEqual(expected);
  expect(given).toEqual(before);
});

test('nulls without a default are dropped, or left for validation where their field has a type', () => {
  const schema = compileSchema(
    object({ a: { type: 'string' }, b: x, c: { 'x-kubernetes-int-or-string': true } }),
  );
  const given = { a: null, b: null, c: null, d: null };
  expect(withDefaults(schema, given)).toEqual({ b: 'x', d: null });
  expect(withDefaults(schema, given, { keepsNulls: true })).toEqual({ a: null, b: 'x', d: null });
});

test('an object that needs no default is returned itself', () => {
  const given = { a: { b: 'y' }, c: [1] };
  expect(withDefaults(compileSchema(object({ a: object({ b: x }) })), given)).toBe(given);
});

test('two objects never share a default', () => {
  const schema = compileSchema(object({ a: { type: 'array', items: {}, default: [{ b: 1 }] } }));
  const [one, two] = [withDefaults(schema, {}), withDefaults(schema, {})];
  expect(one).toEqual({ a: [{ b: 1 }] });
  expect(one['a']).not.toBe(two['a']);
  expect((one['a'] as unknown[])[0]).not.toBe((two['a'] as unknown[])[0]);
});

test('a property __proto__ can have a default', () => {
  const schema = compileSchema(
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string","default":"x"}}}'),
  );
  expect(JSON.stringify(withDefaults(schema, {}))).toBe('{"__proto__":"x"}');
});

test('defaults that would exhaust memory are refused', () => {
  const long = { type: 'string', default: 'x'.repeat(1_000_000) };
  const schema = compileSchema(object({ a: { type: 'array', items: object({ b: long }) } }));
  const filled = (items: number): ReadonlyJson =>
    withDefaults(schema, { a: Array.from({ length: items }, () => ({})) });
  const most = Math.floor(DEFAULTED_CHARS_MAX / 1_000_010);
  expect(filled(most)['a']).toHaveLength(most);
  expect(() => filled(most + 1)).toThrow(TooManyDefaultsError);
});

test.each<[string, ReadonlyJson, ReadonlyJson, ReadonlyJson]>([
  ['of a field', object({ a: { type: 'string' } }), { a: null }, { a: null }],
  ['of a field without a type', object({ a: {} }), { a: null }, { a: null }],
  ['inside others', object({ a: object({ b: { type: 'string' } }) }), { a: { b: null } }, { a: { b: null } }],
  ['with a default go for it', object({ a: x }), { a: null }, { a: 'x' }],
])('nulls stay where nothing is pruned: %s', (_, schema, given, expected) => {
  expect(withDefaults(compileSchema(schema, { preserveUnknownFields: true }), given)).toEqual(expected);
});
