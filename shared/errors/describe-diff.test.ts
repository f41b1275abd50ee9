import { describeDiff } from './describe-diff';

const LONG = 'x'.repeat(500);

test.each<[string, unknown, unknown, string]>([
  ['the smallest part', { a: { b: 1, c: true } }, { a: { b: 2, c: true } }, 's.a.b: 2 -> 1\n'],
  ['what is new', { a: { b: ['x'] } }, {}, 's.a: absent -> {"b":["x"]}\n'],
  ['what is gone', {}, { a: '' }, 's.a: "" -> absent\n'],
  ['another kind of value', { a: null }, { a: [] }, 's.a: [] -> null\n'],
  [
    'items by their index',
    { a: [{ n: 1 }, 2] },
    { a: [{ n: 0 }] },
    's.a[0].n: 0 -> 1\ns.a[1]: absent -> 2\n',
  ],
  ['what is longer than a number', 2n ** 63n, 1, `s: 1 -> ${String(2n ** 63n)}\n`],
  [
    'fields in the order of their names',
    { b: 1, a: 1 },
    { c: 1 },
    's.a: absent -> 1\ns.b: absent -> 1\ns.c: 1 -> absent\n',
  ],
  ['a key that is no word', { 'x.io/y-z': '1' }, {}, 's[x.io/y-z]: absent -> "1"\n'],
  ['a key that would break the line', { 'a\nb: 1': '1' }, {}, 's["a\\nb: 1"]: absent -> "1"\n'],
  ['a key called __proto__', JSON.parse('{"__proto__":1}'), {}, 's.__proto__: absent -> 1\n'],
  ['a key that is empty', { '': 1 }, {}, 's[""]: absent -> 1\n'],
  [
    'a field that holds undefined as absent',
    { a: undefined, b: { c: undefined } },
    { b: 1 },
    's.b: 1 -> {}\n',
  ],
])('shows %s', (_what, next, previous, lines) => {
  expect(describeDiff('s', next, previous)).toBe(`\n${lines}`);
});

test('is empty for equal values', () => {
  expect(describeDiff('s', { a: [1, { b: 'c' }] }, { a: [1, { b: 'c' }] })).toBe('');
});

test('begins with the name of the field where the whole object is compared', () => {
  expect(describeDiff('', { metadata: { name: 'b' } }, { metadata: { name: 'a' } })).toBe(
    '\nmetadata.name: "a" -> "b"\n',
  );
});

test.each<[string, unknown, string]>([
  ['text', LONG, `"${'x'.repeat(99)}...`],
  ['a list', ['y', LONG], `["y","${'x'.repeat(94)}...`],
  ['a map', { [LONG]: 1 }, `{"${'x'.repeat(98)}...`],
  ['whole characters', `${'x'.repeat(98)}😀😀`, `"${'x'.repeat(98)}...`],
])('truncates a long value: %s', (_what, value, text) => {
  expect(describeDiff('s', value, 'a')).toBe(`\ns: "a" -> ${text}\n`);
});

test('a value of exactly the limit is not truncated', () => {
  const value = 'x'.repeat(98);
  expect(describeDiff('s', value, undefined)).toBe(`\ns: absent -> "${value}"\n`);
});

test('a long key is truncated', () => {
  expect(describeDiff('s', { [LONG]: 1 }, {})).toBe(`\ns.${'x'.repeat(100)}...: absent -> 1\n`);
});

test('ten differences are listed and the rest is counted', () => {
  const next = Array.from({ length: 25 }, (_none, index) => index);
  const lines = describeDiff('s', next, []).trim().split('\n');
  expect(lines).toHaveLength(11);
  expect(lines[9]).toBe('s[9]: absent -> 9');
  expect(lines[10]).toBe('and 15 more');
});

test('only the beginning of a large value is compared', () => {
  const next = Array.from({ length: 100_000 }, (_none, index) => ({ index }));
  const previous = next.map(({ index }) => ({ index: index === 3 ? -1 : index }));
  expect(describeDiff('s', next, previous)).toBe('\ns[3].index: -1 -> 3\nand maybe more\n');
});

test('only the first entries of a large map are compared', () => {
  const next = Object.fromEntries(
    Array.from({ length: 20_000 }, (_none, index) => [`k${String(20_000 - index)}`, { index }]),
  );
  const previous = { ...structuredClone(next), k19998: { index: -1 } };
  expect(describeDiff('s', next, previous)).toBe('\ns.k19998.index: -1 -> 2\nand maybe more\n');
});
