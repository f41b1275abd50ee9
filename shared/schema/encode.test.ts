import * as fc from 'fast-check';
import { encodeObject } from './encode';
import { stringifyExact } from '../object/exact-text';
import { parseExact } from './exact-json';

test('the envelope comes first whatever the order of the object, and the rest keeps its order', () => {
  const object = { status: 1, metadata: { name: 'x' }, apiVersion: 'v1', b: 2, kind: 'Pod', a: 3 };
  expect(encodeObject(object).toString()).toBe(
    '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"},"status":1,"b":2,"a":3}',
  );
});

test('fields that are missing or undefined are not written', () => {
  expect(encodeObject({ apiVersion: 'v1', kind: undefined, spec: {} }).toString()).toBe(
    '{"apiVersion":"v1","spec":{}}',
  );
  expect(encodeObject({ metadata: {}, kind: 'A' }).toString()).toBe('{"kind":"A","metadata":{}}');
  expect(encodeObject({}).toString()).toBe('{}');
});

test('a field called __proto__ is written as a field', () => {
  const object = JSON.parse('{"__proto__":{"a":1},"kind":"A"}') as object;
  expect(encodeObject(object).toString()).toBe('{"kind":"A","__proto__":{"a":1}}');
});

test('bigints are written as integers', () => {
  const object = { kind: 'A', n: 9223372036854775807n, list: [1n, 'x', null], none: undefined };
  expect(encodeObject(object).toString()).toBe('{"kind":"A","n":9223372036854775807,"list":[1,"x",null]}');
});

test('a value that cannot be written is still an error', () => {
  const loop: Record<string, unknown> = {};
  loop['self'] = loop;
  expect(() => encodeObject(loop)).toThrow(TypeError);
});

test('parseExact agrees with JSON.parse except for the precision of long integers', () => {
  fc.assert(
    fc.property(fc.json({ noUnicodeString: false }), fc.constantFrom(undefined, 1, '\t'), (text, space) => {
      const spaced = JSON.stringify(JSON.parse(text), null, space);
      expect(JSON.parse(stringifyExact(parseExact(spaced)))).toEqual(JSON.parse(spaced));
    }),
  );
});

test('stringifyExact and parseExact round-trip', () => {
  const value = {
    a: -9223372036854775808n,
    'b "quoted"': [9007199254740993n, 1.5, 'x\n', true, null],
    __proto: {},
  };
  expect(parseExact(stringifyExact(value))).toEqual(value);
});

test('an integer becomes a bigint only beyond 53 bits and within 64', () => {
  expect(parseExact('[9007199254740991,9007199254740993,9223372036854775808,1234567890123456.5]')).toEqual([
    9007199254740991,
    9007199254740993n,
    9223372036854775808,
    1234567890123456.5,
  ]);
});
