import * as fc from 'fast-check';
import { applyPatch, compare } from 'fast-json-patch';
import { cloneJson, deepEqual } from '../object/clone';
import {
  applyJsonPatch,
  decodeJsonPatch,
  JSON_PATCH_MOVED_ITEMS_MAX,
  JSON_PATCH_OPERATIONS_MAX,
} from './json-patch';

const OBJECT = {
  data: { x: '1', 'a/b': 's', 'c~d': 't', nothing: null as string | null },
  list: ['a', 'b', 'c'],
  deep: [{ n: { k: [1] } }],
};
type Operation = Record<string, unknown>;

function after(...operations: Operation[]): string {
  return JSON.stringify(applyJsonPatch(OBJECT, operations));
}

/** Returns the JSON of `OBJECT` with these fields replaced. */
function changed(fields: object): string {
  return JSON.stringify({ ...OBJECT, ...fields });
}

test.each<[string, Operation, object]>([
  ['add puts a new key', { op: 'add', path: '/new', value: { a: [1] } }, { new: { a: [1] } }],
  ['add replaces a key', { op: 'add', path: '/data/x', value: '2' }, { data: { ...OBJECT.data, x: '2' } }],
  ['add without a value puts null', { op: 'add', path: '/new' }, { new: null }],
  ['add inserts into a list', { op: 'add', path: '/list/1', value: 'n' }, { list: ['a', 'n', 'b', 'c'] }],
  ['add at the length appends', { op: 'add', path: '/list/3', value: 'n' }, { list: ['a', 'b', 'c', 'n'] }],
  ['add at - appends', { op: 'add', path: '/list/-', value: 'n' }, { list: ['a', 'b', 'c', 'n'] }],
  ['add at -1 appends', { op: 'add', path: '/list/-1', value: 'n' }, { list: ['a', 'b', 'c', 'n'] }],
  ['remove takes a key away', { op: 'remove', path: '/deep' }, { deep: undefined }],
  ['remove takes an item away', { op: 'remove', path: '/list/0' }, { list: ['b', 'c'] }],
  ['remove counts from the end', { op: 'remove', path: '/list/-1' }, { list: ['a', 'b'] }],
  ['replace changes a key', { op: 'replace', path: '/list', value: 5 }, { list: 5 }],
  ['replace adds a missing key', { op: 'replace', path: '/new', value: 5 }, { new: 5 }],
  ['replace changes an item', { op: 'replace', path: '/list/2', value: 5 }, { list: ['a', 'b', 5] }],
  [
    'a path goes through lists',
    { op: 'add', path: '/deep/0/n/k/-', value: 2 },
    { deep: [{ n: { k: [1, 2] } }] },
  ],
  [
    '~1 is a slash',
    { op: 'replace', path: '/data/a~1b', value: 'u' },
    { data: { ...OBJECT.data, 'a/b': 'u' } },
  ],
  [
    '~0 is a tilde',
    { op: 'replace', path: '/data/c~0d', value: 'u' },
    { data: { ...OBJECT.data, 'c~d': 'u' } },
  ],
  ['~01 is ~1', { op: 'add', path: '/~01', value: 1 }, { '~1': 1 }],
  ['text before the first slash is ignored', { op: 'add', path: 'data/new', value: 1 }, { new: 1 }],
  ['move takes and puts', { op: 'move', from: '/list/0', path: '/list/-' }, { list: ['b', 'c', 'a'] }],
  ['copy repeats', { op: 'copy', from: '/list/0', path: '/list/-' }, { list: ['a', 'b', 'c', 'a'] }],
  ['copy of a missing key is null', { op: 'copy', from: '/none', path: '/new' }, { new: null }],
  ['test holds', { op: 'test', path: '/deep', value: [{ n: { k: [1] } }] }, {}],
  ['test of a missing key for null holds', { op: 'test', path: '/none', value: null }, {}],
  ['test of null holds', { op: 'test', path: '/data/nothing', value: null }, {}],
])('%s', (_what, operation, fields) => {
  const before = JSON.stringify([OBJECT, operation]);
  expect(after(operation)).toBe(changed(fields));
  expect(JSON.stringify([OBJECT, operation])).toBe(before);
});

test.each<[string, Operation]>([
  ['remove of a missing key', { op: 'remove', path: '/none' }],
  ['move of a missing key', { op: 'move', from: '/none', path: '/new' }],
  ['move into itself', { op: 'move', from: '/data', path: '/data/x' }],
  ['test of another value', { op: 'test', path: '/data/x', value: '2' }],
  ['test of a missing key', { op: 'test', path: '/none', value: 'x' }],
  ['test without a value', { op: 'test', path: '/data/x' }],
  ['test of a number as text', { op: 'test', path: '/deep/0/n/k/0', value: '1' }],
  ['replace past the end', { op: 'replace', path: '/list/3', value: 1 }],
  ['add past the end', { op: 'add', path: '/list/4', value: 1 }],
  ['add before the beginning', { op: 'add', path: '/list/-5', value: 1 }],
  ['remove at the dash', { op: 'remove', path: '/list/-' }],
  ['an index that is text', { op: 'remove', path: '/list/x' }],
  ['an index with a point', { op: 'remove', path: '/list/1.0' }],
  ['a missing parent', { op: 'add', path: '/none/here', value: 1 }],
  ['a parent that is text', { op: 'add', path: '/data/x/y', value: 1 }],
  ['a parent that is inherited', { op: 'add', path: '/constructor/prototype/polluted', value: 1 }],
  ['a parent that is a prototype', { op: 'add', path: '/__proto__/polluted', value: 1 }],
  ['the whole object', { op: 'replace', path: '', value: {} }],
  ['an unknown operation', { op: 'explode', path: '/data' }],
  ['no operation', { path: '/data' }],
  ['no path', { op: 'add', value: 1 }],
  ['a path that is no text', { op: 'add', path: 5, value: 1 }],
  ['no from', { op: 'copy', path: '/new' }],
])('%s fails', (_what, operation) => {
  expect(() => after(operation)).toThrow(expect.objectContaining({ name: 'PatchError', kind: 'failed' }));
});

test.each([
  [{ op: 'add', path: '/x', value: 1 }, 'malformed'],
  ['text', 'malformed'],
  [5, 'malformed'],
  [[5], 'malformed'],
  [[[]], 'malformed'],
  [undefined, 'malformed'],
])('%j is refused as a patch', (body, kind) => {
  expect(() => applyJsonPatch(OBJECT, body)).toThrow(expect.objectContaining({ kind }));
});

test('null and the empty list change nothing', () => {
  expect(applyJsonPatch(OBJECT, null)).toEqual(OBJECT);
  expect(applyJsonPatch(OBJECT, [])).toEqual(OBJECT);
});

test('the operation limit is inclusive', () => {
  const operation = { op: 'test', path: '/data/x', value: '1' };
  const patch = Array.from({ length: JSON_PATCH_OPERATIONS_MAX }, () => operation);
  expect(applyJsonPatch(OBJECT, patch)).toEqual(OBJECT);
  expect(() => decodeJsonPatch([...patch, operation])).toThrow(
    expect.objectContaining({
      kind: 'too-many',
      message: 'The allowed maximum operations in a JSON patch is 10000, got 10001',
    }),
  );
});

describe('operations in front of a long list', () => {
  const items = 100_000;
  const value = Array.from({ length: items }, () => 0);
  const patchOf = (operation: Operation, times: number): Operation[] => [
    { op: 'add', path: '/a', value },
    ...Array.from({ length: times }, () => operation),
  ];

  test.each<readonly [what: string, operation: Operation]>([
    ['moves to the end', { op: 'move', from: '/a/0', path: '/a/-' }],
    ['moves from the end', { op: 'move', from: '/a/-1', path: '/a/0' }],
    ['additions', { op: 'add', path: '/a/0', value: 0 }],
    ['copies', { op: 'copy', from: '/a/1', path: '/a/0' }],
  ])('%s are refused beyond JSON_PATCH_MOVED_ITEMS_MAX', (_what, operation) => {
    const patch = patchOf(operation, JSON_PATCH_OPERATIONS_MAX - 1);
    expect(() => applyJsonPatch(OBJECT, patch)).toThrow(
      expect.objectContaining({
        kind: 'too-many',
        message: expect.stringMatching(
          /^operation \d+: The allowed maximum of list items moved by a JSON patch is 200000000$/u,
        ) as string,
      }),
    );
  });

  test('a storable list can be removed item by item', () => {
    const times = JSON_PATCH_OPERATIONS_MAX - 1;
    const list = value.slice(0, Math.floor(JSON_PATCH_MOVED_ITEMS_MAX / JSON_PATCH_OPERATIONS_MAX));
    const patched = applyJsonPatch(
      { list },
      Array.from({ length: times }, () => ({ op: 'remove', path: '/list/0' })),
    );
    expect(patched['list']).toHaveLength(list.length - times);
  });
});

describe('copies', () => {
  const doubling = (times: number): Operation[] => [
    { op: 'add', path: '/a', value: [0] },
    ...Array.from({ length: times }, () => ({ op: 'copy', from: '/a', path: '/a/-' })),
  ];

  test('of a list into itself are refused beyond JSON_PATCH_COPIED_VALUES_MAX', () => {
    expect(applyJsonPatch({}, doubling(12))).toHaveProperty('a');
    expect(() => applyJsonPatch({}, doubling(20))).toThrow(
      /^operation \d+: Unable to complete the copy, the accumulated number of copied values exceeds the limit 20000$/u,
    );
  });

  test('of a large object are allowed', () => {
    const data = Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`k${String(index)}`, '']));
    const copies = ['b', 'c'].map((key) => ({ op: 'copy', from: '/data', path: `/${key}` }));
    const copied = applyJsonPatch({ data }, copies);
    expect(deepEqual(copied, { data, b: data, c: data })).toBe(true);
    expect(() => applyJsonPatch({ data }, [...copies, { op: 'copy', from: '/data', path: '/d' }])).toThrow(
      'copied values exceeds the limit 30',
    );
  });
});

test('a patch that fails midway changes nothing, and the message names the operation', () => {
  const operations = [
    { op: 'add', path: '/data/new', value: 1 },
    { op: 'remove', path: '/none' },
  ];
  expect(() => after(...operations)).toThrow('operation 1: Unable to remove nonexistent key: none');
  expect(OBJECT.data).not.toHaveProperty('new');
});

test('a patch can be applied twice, since operations do not change its values', () => {
  const patch = [
    { op: 'add', path: '/new', value: { a: 1 } },
    { op: 'copy', from: '/new', path: '/other' },
    { op: 'add', path: '/new/b', value: 2 },
  ];
  const first = applyJsonPatch(OBJECT, patch);
  expect(first).toMatchObject({ new: { a: 1, b: 2 }, other: { a: 1 } });
  expect(first['other']).not.toHaveProperty('b');
  expect(applyJsonPatch(OBJECT, patch)).toEqual(first);
});

test('copies that double the object are refused at the limit', () => {
  const text = { op: 'add', path: '/list/-', value: 'x'.repeat(10_000) };
  const double = Array.from({ length: 40 }, () => ({ op: 'copy', from: '/list', path: '/list/-' }));
  expect(() => after(text, ...double)).toThrow(
    /accumulated size increase of copy is \d+, exceeding the limit 3145728/,
  );
});

test('moves that nest deeper are refused at the depth limit', () => {
  const nest = [
    { op: 'add', path: '/a', value: {} },
    ...Array.from({ length: 1100 }, () => [
      { op: 'add', path: '/b', value: {} },
      { op: 'move', from: '/a', path: '/b/a' },
      { op: 'move', from: '/b', path: '/a' },
    ]).flat(),
  ];
  expect(() => after(...nest)).toThrow('nests deeper than 1000 levels');
});

test('a key named __proto__ is data', () => {
  const patch = JSON.parse(
    '[{"op":"add","path":"/__proto__","value":{"a":1}},{"op":"add","path":"/__proto__/polluted","value":true},{"op":"copy","from":"/__proto__","path":"/copy"}]',
  ) as unknown;
  expect(JSON.stringify(applyJsonPatch({}, patch))).toBe(
    '{"__proto__":{"a":1,"polluted":true},"copy":{"a":1,"polluted":true}}',
  );
  expect(({} as Operation)['polluted']).toBeUndefined();
});

test('integers beyond 2^53 stay exact', () => {
  const result = applyJsonPatch({ n: 9007199254740993n }, [
    { op: 'test', path: '/n', value: 9007199254740993n },
    { op: 'copy', from: '/n', path: '/m' },
  ]);
  expect(result).toEqual({ n: 9007199254740993n, m: 9007199254740993n });
});

const document = fc.dictionary(fc.stringMatching(/^[a-c/~]{1,3}$/), fc.jsonValue({ maxDepth: 3 }), {
  maxKeys: 5,
  noNullPrototype: true,
});

test('a diff by an independent implementation (fast-json-patch) yields its target', () => {
  fc.assert(
    fc.property(document, document, (from, to) => {
      const [a, b] = JSON.parse(JSON.stringify([from, to])) as [Operation, Operation];
      fc.pre(!JSON.stringify([a, b]).includes('__proto__'));
      const patch = compare(a, b);
      const expected = applyPatch(cloneJson(a), cloneJson(patch)).newDocument;
      expect(deepEqual(applyJsonPatch(a, patch), expected)).toBe(true);
    }),
  );
});
