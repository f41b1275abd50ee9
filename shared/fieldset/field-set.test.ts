import * as fc from 'fast-check';
import type { FieldSet } from './field-set';
import {
  difference,
  EMPTY_SET,
  equalSets,
  hasPath,
  intersection,
  listPaths,
  recursiveDifference,
  createSet,
  union,
} from './field-set';
import { parseFieldSet } from './parse';
import { displayPath } from './path-element';

const path = fc.array(fc.constantFrom('f:a', 'f:b', 'v:"x"', 'k:{"n":1}'), { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 8 });

function texts(set: FieldSet): Set<string> {
  return new Set(listPaths(set).map((each) => each.join(' ')));
}

const startsWith = (text: string, prefix: string): boolean =>
  text === prefix || text.startsWith(`${prefix} `);

test('operations on sets of paths agree with operations on sets of strings', () => {
  fc.assert(
    fc.property(paths, paths, (left, right) => {
      const [a, b] = [createSet(...left), createSet(...right)];
      const [x, y] = [texts(a), texts(b)];
      expect(texts(union(a, b))).toEqual(new Set([...x, ...y]));
      expect(texts(difference(a, b))).toEqual(new Set([...x].filter((each) => !y.has(each))));
      expect(texts(intersection(a, b))).toEqual(new Set([...x].filter((each) => y.has(each))));
      expect(texts(recursiveDifference(a, b))).toEqual(
        new Set([...x].filter((each) => ![...y].some((other) => startsWith(each, other)))),
      );
      for (const each of left) expect(hasPath(a, each)).toBe(true);
      expect(hasPath(difference(a, b), right[0] ?? ['f:none'])).toBe(false);
    }),
  );
});

test('every result is canonical', () => {
  fc.assert(
    fc.property(paths, paths, (left, right) => {
      const [a, b] = [createSet(...left), createSet(...right)];
      for (const set of [union(a, b), difference(a, b), intersection(a, b), recursiveDifference(a, b)]) {
        expect(JSON.stringify(set)).toBe(JSON.stringify(createSet(...listPaths(set))));
        expect(parseFieldSet(set)).toBe(set);
        expect(equalSets(set, createSet(...listPaths(set).toReversed()))).toBe(true);
      }
    }),
  );
});

test('an operation that changes nothing returns its first argument', () => {
  const a = createSet(['f:spec', 'f:x'], ['f:metadata', 'f:labels', 'f:l']);
  expect(union(a, createSet(['f:spec', 'f:x']))).toBe(a);
  expect(difference(a, createSet(['f:status']))).toBe(a);
  expect(recursiveDifference(a, createSet(['f:spec', 'f:y']))).toBe(a);
  expect(difference(a, createSet(['f:spec', 'f:x']))['f:metadata']).toBe(a['f:metadata']);
  expect(intersection(a, a)).toBe(a);
});

test('a canonical set is parsed without a copy', () => {
  const stored: unknown = JSON.parse(
    '{"f:data":{".":{},"f:x":{}},"f:spec":{"f:ports":{"k:{\\"port\\":80}":{}}}}',
  );
  expect(parseFieldSet(stored)).toBe(stored);
});

test.each([
  ['{"f:b":{},"f:a":{}}', '{"f:a":{},"f:b":{}}'],
  ['{"f:a":{".":{}}}', '{"f:a":{}}'],
  ['{".":{},"f:a":{}}', '{"f:a":{}}'],
  ['{"k:{\\"b\\":1,\\"a\\":\\"x\\"}":{}}', '{"k:{\\"a\\":\\"x\\",\\"b\\":1}":{}}'],
  ['{"k:{ \\"a\\" : 1 }":{"f:x":{}},"k:{\\"a\\":1}":{"f:y":{}}}', '{"k:{\\"a\\":1}":{"f:x":{},"f:y":{}}}'],
  ['{"v: \\"x\\"":{},"i:01":{}}', '{"i:1":{},"v:\\"x\\"":{}}'],
  ['{"v: 9007199254740993":{}}', '{"v:9007199254740993":{}}'],
  ['{"f:a":{".":{"f:x":{}},"f:b":{}}}', '{"f:a":{".":{},"f:b":{}}}'],
  ['{"f:a":null,"f:b":{}}', '{"f:a":{},"f:b":{}}'],
  ['{"f:a":{".":null,"f:b":null}}', '{"f:a":{".":{},"f:b":{}}}'],
  ['{"f:a":{".":1,"f:b":{}}}', '{"f:a":{".":{},"f:b":{}}}'],
  ['null', '{}'],
])('%s is read as %s', (given, canonical) => {
  expect(JSON.stringify(parseFieldSet(JSON.parse(given)))).toBe(canonical);
});

test('a large non-canonical set is parsed in linear time', () => {
  let deep: object = { 'k:{"b":1,"a":2}': {} };
  for (let level = 0; level < 500; level += 1) deep = { 'f:b': deep, 'f:a': {} };
  expect(listPaths(parseFieldSet(deep) ?? EMPTY_SET)).toHaveLength(501);
  const wide = Object.fromEntries(
    Array.from({ length: 50_000 }, (_, at) => [`k:{"b":${String(at)},"a":2}`, {}]),
  );
  expect(Object.keys(parseFieldSet(wide) ?? EMPTY_SET)).toHaveLength(50_000);
});

test.each([
  '{"v:[1]":{}}',
  '{"v:{}":{}}',
  '{"k:{\\"a\\":[]}":{}}',
  `{"v:${'['.repeat(100_000)}${']'.repeat(100_000)}":{}}`,
  '[]',
  '"x"',
  '{"a":{}}',
  '{"f:a":1}',
  '{"k:x":{}}',
  '{"k:[]":{}}',
  '{"k:{}":{}}',
  '{"v:":{}}',
  '{"i:x":{}}',
  '{"i:-1":{}}',
  '{"__proto__":{}}',
])('%.40s is an invalid set', (given) => {
  expect(parseFieldSet(JSON.parse(given))).toBeUndefined();
});

test('a set that nests too deep is refused', () => {
  let nested: object = {};
  for (let depth = 0; depth < 5_000; depth += 1) nested = { 'f:a': nested };
  expect(parseFieldSet(nested)).toBeUndefined();
});

test('paths are written as Kubernetes writes them in conflicts', () => {
  expect(displayPath(['f:spec', 'f:ports', 'k:{"port":80,"protocol":"TCP"}', 'f:name'])).toBe(
    '.spec.ports[port=80,protocol="TCP"].name',
  );
  expect(displayPath(['f:metadata', 'f:finalizers', 'v:"a/b"'])).toBe('.metadata.finalizers[="a/b"]');
  expect(displayPath(['f:list', 'i:3'])).toBe('.list[3]');
});

test('the empty set is empty', () => {
  expect(listPaths(EMPTY_SET)).toEqual([]);
  expect(union(EMPTY_SET, EMPTY_SET)).toBe(EMPTY_SET);
});

test('paths are listed level by level', () => {
  const set = createSet(['f:a', 'f:b'], ['f:c'], ['f:a', 'f:d', 'f:e'], ['f:a', 'f:f']);
  expect(listPaths(set).map((each) => each.join('.'))).toEqual(['f:c', 'f:a.f:b', 'f:a.f:f', 'f:a.f:d.f:e']);
});
