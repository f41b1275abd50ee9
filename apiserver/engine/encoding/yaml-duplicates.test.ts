import { duplicateYamlKeys } from './yaml-duplicates';

test.each<[text: string, paths: readonly string[]]>([
  ['a: 1\nb: 2\n', []],
  ['a: 1\nb: 2\na: 3\n', ['a']],
  ['a:\nb:\na:\n', ['a']],
  ['a:\n  b: 1\n  c:\n    d: x\n    "d": y\n  b: 2\n', ['a.c.d', 'a.b']],
  ['a:\n- b: 1\n- b: 2\n  c: 3\n  b: 4\n- - x: 1\n    x: 2\n', ['a[1].b', 'a[2][0].x']],
  ['{"a": {"b":1,"c":2,"b":3}, "a" : 4}', ['a.b', 'a']],
  ['- {a: 1, b: 2, a: 3}\n-  {a: 1}\n- [[{b: 1, b: 1}]]\n', ['[0].a', '[2][0][0].b']],
  ['a: {b: 1, c: [{d: 1, d: 2}]}', ['a.c[0].d']],
  ['a: "b: b"\nc: |\n  a: 1\n  a: 2\nd: >-\n  c: 1\n', []],
  ['a: b:c\nb: http://x\nc: "x" # a: 1\n', []],
  ['? a\n: 1\nb: 2\n', []],
  ['1: x\n1: y\n', ['1']],
  ['x: &n {a: 1}\ny: *n\nz:\n  <<: *n\n  a: 2\n', []],
  ['- a: 1\n- a: 2\n', []],
  ['# only\n---\na: 1\na: 2\n', ['a']],
  ['', []],
])('%j repeats %j', (text, paths) => {
  expect(duplicateYamlKeys(text)).toEqual(paths);
});

test('names no more than a hundred', () => {
  expect(duplicateYamlKeys('a: 1\n'.repeat(1_000))).toHaveLength(100);
});
