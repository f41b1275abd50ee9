import * as fc from 'fast-check';
import { cloneJson, deepEqual, getOwn, setOwn } from './clone';

const json = fc.jsonValue({ maxDepth: 4 });

test('a copy is equal and shares nothing with the original', () => {
  fc.assert(
    fc.property(json, (value) => {
      const copy = cloneJson({ value });
      expect(copy).toEqual({ value });
      expect(deepEqual(copy, { value })).toBe(true);
      expect(Object.is(copy.value, value)).toBe(typeof value !== 'object' || value === null);
    }),
  );
});

test('deepEqual agrees with comparing sorted JSON', () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      // Negative zero prints as zero and equals it.
      expect(deepEqual(a, b)).toBe(canonical(a) === canonical(b));
    }),
  );
});

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

test.each([
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [[1, 2], [2, 1], false],
  [{ a: null }, {}, false],
  [{}, [], false],
  [null, {}, false],
  ['1', 1, false],
  [{ a: 1 }, { toString: 1 }, false],
])('%j equals %j: %s', (a, b, isEqual) => {
  expect(deepEqual(a, b)).toBe(isEqual);
});

test('a key __proto__ is ordinary data', () => {
  const evil = JSON.parse('{"__proto__":{"polluted":true},"a":1}') as Record<string, unknown>;
  const copy = cloneJson(evil);
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":true},"a":1}');
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  expect(deepEqual(copy, evil)).toBe(true);
  expect(deepEqual(copy, { a: 1, b: 2 })).toBe(false);
  setOwn(copy, '__proto__', 5);
  expect(getOwn(copy, '__proto__')).toBe(5);
  expect(getOwn({}, '__proto__')).toBeUndefined();
  expect(getOwn({}, 'toString')).toBeUndefined();
});

test('a copy of an object without a prototype has none', () => {
  const bare = Object.assign(Object.create(null) as Record<string, unknown>, { a: [1n] });
  const copy = cloneJson(bare);
  expect(Object.getPrototypeOf(copy)).toBeNull();
  expect(copy['a']).toEqual([1n]);
  expect(deepEqual(copy, { a: [1n] })).toBe(true);
});
