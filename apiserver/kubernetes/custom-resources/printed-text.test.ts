import { printedText } from './printed-text';

test.each([
  ['text', 'a "b"', 'a "b"'],
  ['a flag', false, 'false'],
  ['nothing', null, '<no value>'],
  ['a whole number', 42, '42'],
  ['a whole number of more than 53 bits', 9_007_199_254_740_993n, '9007199254740993'],
  ['a large whole number', 1e15, '1000000000000000'],
  ['minus nothing', -0, '0'],
  ['a fraction', 1.5, '1.5'],
  ['a small fraction', 0.0001, '0.0001'],
  ['a smaller fraction', 0.000012, '1.2e-05'],
  ['a fraction below a million', 999_999.5, '999999.5'],
  ['a fraction above a million', 1_234_567.5, '1.2345675e+06'],
  ['a number that no integer holds', 1e300, '1e+300'],
  ['a number of 64 bits and more', 1e19, '1e+19'],
  ['a list', ['b', 1, 1.5, true, null, []], '["b",1,1.5,true,null,[]]'],
  [
    'an object',
    { b: { 10: 1, 9: 2 }, a: '<&>\u2028' },
    '{"a":"\\u003c\\u0026\\u003e\\u2028","b":{"10":1,"9":2}}',
  ],
  ['an object with a long integer', { a: 9_007_199_254_740_993n }, '{"a":9007199254740993}'],
])('%s is printed as Go prints it', (_what, value, text) => {
  expect(printedText(value)).toBe(text);
});
