import { goFloat, goNumber, goPlain, goQuote, goStrings, goValue } from './go-text';

test.each<[unknown, string]>([
  ['a "b"\n', '"a \\"b\\"\\n"'],
  ['\u0001\u007f\u2028', '"\\x01\\x7f\\u2028"'],
  ['é😀', '"é😀"'],
  [5, '5'],
  [2n ** 60n, '1152921504606846976'],
  [0.5, '0.5'],
  [1e300, '1e+300'],
  [1e-7, '1e-07'],
  [true, 'true'],
  [null, '"null"'],
  [undefined, '"null"'],
  [[1, 'a', null], '[]interface {}{1, "a", interface {}(nil)}'],
  [
    { b: [true], a: { c: 1.5 } },
    'map[string]interface {}{"a":map[string]interface {}{"c":1.5}, "b":[]interface {}{true}}',
  ],
])('%p is formatted as in Go', (value, expected) => {
  expect(goValue(value)).toBe(expected);
});

test('numbers beyond 53 bits are floats, unless they are exact', () => {
  expect(goNumber(2 ** 70)).toBe('1.1805916207174113e+21');
  expect(goNumber(Number.MAX_SAFE_INTEGER)).toBe('9007199254740991');
  expect(goFloat(0.0001)).toBe('0.0001');
  expect(goFloat(123456.5)).toBe('123456.5');
  expect(goFloat(123456789)).toBe('1.23456789e+08');
  expect(goFloat(0.00001)).toBe('1e-05');
});

test('lists of strings have a type of their own', () => {
  expect(goStrings(['a', 'b'])).toBe('[]string{"a", "b"}');
  expect(goQuote('')).toBe('""');
});

test.each<[unknown, string]>([
  [null, '<nil>'],
  ['a b', 'a b'],
  [1.5, '1.5'],
  [true, 'true'],
  [[{}, [], 'x'], '[map[] [] x]'],
  [{ b: 1, a: { c: null } }, 'map[a:map[c:<nil>] b:1]'],
])('%j is formatted as %%v', (value, text) => {
  expect(goPlain(value)).toBe(text);
});
