import * as fc from 'fast-check';
import type { Quantity } from './quantity';
import {
  addQuantity,
  canonicalQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  subtractQuantity,
  ZERO_QUANTITY,
} from './quantity';

test.each([
  ['0', '0'],
  ['0.0', '0'],
  ['-0', '0'],
  ['0Ki', '0'],
  ['1', '1'],
  ['100', '100'],
  ['1000', '1k'],
  ['1500', '1500'],
  ['0.5', '500m'],
  ['0.125', '125m'],
  ['.125', '125m'],
  ['00.123456', '123456u'],
  ['1.125', '1.125'],
  ['.5', '500m'],
  ['Gi', '0'],
  ['-', '0'],
  ['e3', '0'],
  ['.', '0'],
  ['5.', '5.'],
  ['-0.5', '-500m'],
  ['+5', '+5'],
  ['1.500', '1.500'],
  ['1000m', '1'],
  ['1500m', '1500m'],
  ['100000000n', '100m'],
  ['0.5k', '500'],
  ['1e3', '1e3'],
  ['1E3', '1E3'],
  ['10e3', '10e3'],
  ['1e1', '10'],
  ['1e-3', '1e-3'],
  ['1000e3', '1e6'],
  ['1Ki', '1Ki'],
  ['1024Mi', '1Gi'],
  ['1536Mi', '1536Mi'],
  ['1.5Gi', '1536Mi'],
  ['0.5Ki', '512'],
  ['1023Ki', '1023Ki'],
  ['8Ki', '8Ki'],
  ['0.1Ki', '102400m'],
  ['100Mi', '100Mi'],
  ['0.0000000001', '1n'],
  ['-0.0000000001', '-1n'],
  ['1.0000000001', '1000000001n'],
  ['9Ei', '9223372036854775807'],
  ['-20Ei', '-9223372036854775807'],
  ['99999999999999999999', '99999999999999999999'],
  ['-9223372036854775809', '-9223372036854775809'],
  ['9999999999999999999k', '9999999999999999999k'],
  ['99999999999999999999.5', '99999999999999999999500m'],
  ['10E', '10E'],
])('%s is formatted as %s', (text, canonical) => {
  expect(canonicalQuantity(text)).toBe(canonical);
});

test.each([
  '',
  ' ',
  '1 Gi',
  '+-1',
  '1gi',
  '1K',
  '1mi',
  '1e',
  '1e1.5',
  '--1',
  '1.2.3',
  '0x10',
  'NaN',
  '1e401',
])('%p is an invalid quantity', (text) => {
  expect(canonicalQuantity(text)).toBeUndefined();
});

test('long text is refused in constant time', () => {
  expect(canonicalQuantity('9'.repeat(1_000_000))).toBeUndefined();
});

const texts = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    fc.nat(),
    fc.option(fc.nat(99_999)),
    fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e2', 'E-4'),
  )
  .map(
    ([sign, whole, part, suffix]) =>
      `${sign}${String(whole)}${part === null ? '' : `.${String(part)}`}${suffix}`,
  );

test('canonicalization is idempotent and keeps the value', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const canonical = canonicalQuantity(text) ?? '';
      expect(canonicalQuantity(canonical)).toBe(canonical);
      expect(compareQuantity(valueOf(canonical), valueOf(text))).toBe(0);
    }),
  );
});

test('adding and subtracting a quantity cancel', () => {
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      const there = addQuantity(valueOf(a), valueOf(b));
      expect(compareQuantity(subtractQuantity(there, valueOf(b)), valueOf(a))).toBe(0);
    }),
  );
});

test('quantities of different formats compare by value', () => {
  expect(compareQuantity(valueOf('1Ki'), valueOf('1k'))).toBe(1);
  expect(compareQuantity(valueOf('100m'), valueOf('0.2'))).toBe(-1);
  expect(compareQuantity(valueOf('1024Mi'), valueOf('1Gi'))).toBe(0);
});

test('a sum has the format of its first operand unless that is zero', () => {
  expect(formatQuantity(addQuantity(valueOf('1Gi'), valueOf('1Gi')))).toBe('2Gi');
  expect(formatQuantity(addQuantity(valueOf('500m'), valueOf('1500m')))).toBe('2');
  expect(formatQuantity(addQuantity(ZERO_QUANTITY, valueOf('2Mi')))).toBe('2Mi');
});

function valueOf(text: string): Quantity {
  const quantity = parseQuantity(text);
  if (quantity === undefined) throw new Error(`${text} is no quantity`);
  return quantity;
}
