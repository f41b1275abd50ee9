import { repeatedKeys } from './repeated-keys';

test.each([
  ['{"a":1,"b":{"a":2},"c":[{"a":3}]}', []],
  ['{"a":1,"a":2}', ['a']],
  ['{"a":1,"\\u0061":2,"a":3}', ['a', 'a']],
  ['{"x":{"a":"a","b":"{","b":[]}}', ['x.b']],
  ['{"x":[1,{"k":1},{"k":1,"k":{"k":1}}]}', ['x[2].k']],
  ['{"":"","":1}', ['']],
  ['["a","a"]', []],
  ['"a"', []],
])('%s repeats %j', (json, paths) => {
  expect(() => JSON.parse(json) as unknown).not.toThrow();
  expect(repeatedKeys(json, 10)).toEqual(paths);
});

test('at most max paths are returned', () => {
  expect(repeatedKeys('{"a":1,"a":2,"a":3,"a":4}', 2)).toEqual(['a', 'a']);
});

test('long paths are cut', () => {
  const key = 'k'.repeat(100_000);
  const json = JSON.stringify({ [key]: 0 }).replace('0', `{${'"a":1,'.repeat(9)}"a":1}`);
  const paths = repeatedKeys(json, 100);
  expect(paths).toHaveLength(9);
  expect(new Set(paths)).toEqual(new Set([`${'k'.repeat(1_024)}…`]));
});
