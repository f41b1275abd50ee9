import * as fc from 'fast-check';
import { cloneJson, deepEqual, isJsonObject } from '../object/clone';
import { applyMergePatch } from './merge-patch';

test.each([
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ['{"a":1}', '{"a":{"b":null,"c":2}}', '{"a":{"c":2}}'],
  ['{"a":null}', '{"a":{"b":1}}', '{"a":{"b":1}}'],
  ['{}', '{"a":[null,{"b":null,"c":1},[null,2]]}', '{"a":[{"c":1},[2]]}'],
  ['{"a":1}', '{}', '{"a":1}'],
])('%s changed by %s is %s', (original, patch, result) => {
  const before = JSON.parse(original) as unknown;
  const change = JSON.parse(patch) as unknown;
  expect(JSON.stringify(applyMergePatch(before, change))).toBe(result);
  expect(JSON.stringify([before, change])).toBe(`[${original},${patch}]`);
});

test.each([
  ['"text"', 'malformed'],
  ['null', 'malformed'],
  ['5', 'malformed'],
  ['[{"a":1}]', 'failed'],
  [`${'{"a":'.repeat(1001)}1${'}'.repeat(1001)}`, 'malformed'],
])('%# a patch that is no object, or nests too deep, is refused', (patch, kind) => {
  expect(() => applyMergePatch({}, JSON.parse(patch))).toThrow(
    expect.objectContaining({ name: 'PatchError', kind }),
  );
});

test('a key named __proto__ is data in both', () => {
  const before = JSON.parse('{"__proto__":{"a":1},"x":{}}') as unknown;
  const patch = JSON.parse('{"__proto__":{"b":2},"x":{"__proto__":{"polluted":true}}}') as unknown;
  const after = applyMergePatch(before, patch);
  expect(JSON.stringify(after)).toBe('{"__proto__":{"a":1,"b":2},"x":{"__proto__":{"polluted":true}}}');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect(JSON.stringify(applyMergePatch(after, JSON.parse('{"__proto__":null,"x":null}')))).toBe('{}');
});

const document = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.jsonValue({ maxDepth: 3 }), {
  maxKeys: 4,
  noNullPrototype: true,
});

/**
 * The algorithm of RFC 7396, section 2, verbatim, except that nulls inside lists are dropped as in Kubernetes.
 */
function rfc(target: unknown, patch: unknown): unknown {
  if (Array.isArray(patch)) return patch.filter((item) => item !== null).map((item) => rfc(undefined, item));
  if (!isJsonObject(patch)) return patch;
  const result = new Map(isJsonObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) result.delete(name);
    else result.set(name, rfc(result.get(name), value));
  }
  return Object.fromEntries(result);
}

test('it agrees with the RFC, mutates neither argument, and is idempotent', () => {
  fc.assert(
    fc.property(document, document, (original, patch) => {
      const [before, change] = cloneJson([original, patch]);
      const result = applyMergePatch(original, patch);
      expect(deepEqual(result, rfc(original, patch))).toBe(true);
      expect(deepEqual(applyMergePatch(result, patch), result)).toBe(true);
      expect(deepEqual([original, patch], [before, change])).toBe(true);
    }),
  );
});
