import { loadAtLevel } from '../testing/load-at-level';
import type * as FieldErrors from './field-error';
import { duplicate, invalid, invalidObject, notFoundField, notSupported } from './field-error';

const KIND = { group: '', kind: 'ConfigMap' };

test('at most ERRORS_SHOWN_MAX errors are listed and the rest is counted', () => {
  const errors = Array.from({ length: 5_000 }, (_, at) => invalid(`data[${String(at)}]`, at, 'no'));
  const { status, message } = invalidObject(KIND, 'a', errors);
  expect(status.details?.causes).toHaveLength(1_000);
  expect(message).toContain('data[999]: Invalid value: 999: no, and at least 4000 further errors]');
});

test('a few errors are all listed', () => {
  const errors = [invalid('a', 1, 'no'), invalid('b', 2, 'no')];
  expect(invalidObject(KIND, 'x', errors).message).toBe(
    'ConfigMap "x" is invalid: [a: Invalid value: 1: no, b: Invalid value: 2: no]',
  );
});

test('an error that several rules report is listed once', () => {
  const errors = [invalid('a', 1, 'no'), invalid('b', 2, 'no'), invalid('a', 1, 'no')];
  const { status } = invalidObject(KIND, 'x', errors);
  expect(status.details?.causes).toEqual([
    { reason: 'FieldValueInvalid', field: 'a', message: 'Invalid value: 1: no' },
    { reason: 'FieldValueInvalid', field: 'b', message: 'Invalid value: 2: no' },
  ]);
});

test.each([
  [invalid('a', 'x\u0007\u007f"é\u200b', 'no'), 'Invalid value: "x\\a\\x7f\\"é\\u200b": no'],
  [invalid('a', null, 'no'), 'Invalid value: "null": no'],
  [invalid('a', undefined, ''), 'Invalid value: "null"'],
  [invalid('a', -(2n ** 63n), 'no'), 'Invalid value: -9223372036854775808: no'],
  [
    duplicate('a', { b: [2n ** 62n, true], c: 'x' }),
    'Duplicate value: {"b":[4611686018427387904,true],"c":"x"}',
  ],
  [notFoundField('a', 'x'), 'Not found: "x"'],
  [
    notSupported('a', 'x', ['TCP', 'UDP', 'SCTP']),
    'Unsupported value: "x": supported values: "TCP", "UDP", "SCTP"',
  ],
])('%j has the message form of field.Error', ({ message }, expected) => {
  expect(message).toBe(expected);
});

test.each([
  ['1.33', 'Invalid value: "null": no'],
  ['1.34', 'Invalid value: null: no'],
])('at level %s an error shows a nil value as %s', (level, expected) => {
  const errors = loadAtLevel(level, () => jest.requireActual<typeof FieldErrors>('./field-error'));
  expect(errors.invalid('a', null, 'no').message).toBe(expected);
});

test('errors that repeat a large value are limited by characters', () => {
  const list = Array.from({ length: 100_000 }, () => 'x');
  const errors = list.map((_, at) => invalid(`a[${String(at)}]`, list, 'no'));
  const { status, message } = invalidObject(KIND, 'a', errors);
  // Each shows 400 thousand characters.
  expect(status.details?.causes).toHaveLength(3);
  expect(message).toMatch(/, and at least 99997 further errors\]$/);
});
