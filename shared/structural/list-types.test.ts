import { compileSchema } from './structural-schema';
import { validateListTypes } from './list-types';
import type { ReadonlyJson } from '../object/json';

const list = (type: string, more: ReadonlyJson = {}): ReadonlyJson => ({
  type: 'array',
  'x-kubernetes-list-type': type,
  items: {},
  ...more,
});
const keyed = (...keys: string[]): ReadonlyJson =>
  list('map', { 'x-kubernetes-list-map-keys': keys, items: { type: 'object' } });
const schemaOf = (f: ReadonlyJson): ReadonlyJson => ({ type: 'object', properties: { f } });

function errorsOf(f: ReadonlyJson, value: unknown): string[] {
  const errors = validateListTypes(compileSchema(schemaOf(f)), { f: value });
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

test.each<[string, ReadonlyJson, unknown, string[]]>([
  ['a set has each value once', list('set'), ['a', 'b', 'a', 'a'], ['f[2]: Duplicate value: "a"']],
  ['a text is no number', list('set'), ['1', 1, true, 'true', null], []],
  [
    'objects of a set are compared as a whole',
    list('set'),
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
    ['f[1]: Duplicate value: map[string]interface {}{"a":1, "b":[]interface {}{2}}'],
  ],
  [
    'a keyed list has each key once',
    keyed('k'),
    [{ k: 1, v: 1 }, { k: 2 }, { k: 1, v: 2 }],
    ['f[2]: Duplicate value: map[string]interface {}{"k":1}'],
  ],
  [
    'several keys count together',
    keyed('k', 'l'),
    [
      { k: 1, l: 1 },
      { k: 1, l: 2 },
      { l: 1, k: 1 },
    ],
    ['f[2]: Duplicate value: map[string]interface {}{"k":1, "l":1}'],
  ],
  ['no key is a key', keyed('k'), [{}, null], ['f[1]: Duplicate value: map[string]interface {}{}']],
  [
    'only objects have keys',
    keyed('k'),
    [{}, 'x'],
    ['f[1]: Invalid value: "x": must be an object for an array of list-type map'],
  ],
  ['an atomic list may repeat', list('atomic'), [1, 1], []],
  [
    'a set in a list is found',
    { type: 'array', items: list('set') },
    [[], [1, 1]],
    ['f[1][1]: Duplicate value: 1'],
  ],
  [
    'a set in a map is found',
    { type: 'object', additionalProperties: list('set') },
    { a: [1, 1] },
    ['f[a][1]: Duplicate value: 1'],
  ],
  ['what is no list is not looked at', list('set'), 'x', []],
])('%s', (_, schema, value, errors) => {
  expect(errorsOf(schema, value)).toEqual(errors);
});

test('a thousand equal objects are walked once', () => {
  const big = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${String(index)}`, index]));
  expect(
    errorsOf(
      list('set'),
      Array.from({ length: 5_000 }, () => big),
    ),
  ).toHaveLength(1);
});

test('many items with many keys exceed the budget', () => {
  const keys = Array.from({ length: 3_000 }, (_, index) => `k${String(index)}`);
  const items = (count: number): readonly object[] => Array.from({ length: count }, () => ({}));
  expect(errorsOf(keyed(...keys), items(100))).toHaveLength(1);
  expect(errorsOf(keyed(...keys), items(100_000))).toEqual([
    '<nil>: Invalid value: "": comparing the object with its schema takes too long',
  ]);
});

test('nested items that are compared at every level exceed the budget', () => {
  const atomic = { type: 'array', 'x-kubernetes-list-type': 'atomic' };
  let schema: ReadonlyJson = { ...list('atomic'), items: { type: 'integer' } };
  let value: unknown = Array.from({ length: 300_000 }, (_, index) => index);
  for (let level = 0; level < 100; level += 1) {
    schema = { ...list('set'), items: { ...atomic, items: schema } };
    value = [[value]];
  }
  const text = 'comparing the object with its schema takes too long';
  expect(errorsOf(schema, value).at(-1)).toContain(text);
});
