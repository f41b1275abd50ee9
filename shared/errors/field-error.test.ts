import { invalid, invalidObject } from './field-error';

const KIND = { group: '', kind: 'ConfigMap' };

test('an object with more errors than anybody reads is refused with the first of them and the number of the rest', () => {
  const errors = Array.from({ length: 5_000 }, (_, at) => invalid(`data[${String(at)}]`, at, 'no'));
  const { status, message } = invalidObject(KIND, 'a', errors);
  expect(status.details?.causes).toHaveLength(1_000);
  expect(message).toContain('data[999]: Invalid value: 999: no, and at least 4000 further errors]');
});

test('a few errors are named one by one', () => {
  const errors = [invalid('a', 1, 'no'), invalid('b', 2, 'no')];
  expect(invalidObject(KIND, 'x', errors).message).toBe(
    'ConfigMap "x" is invalid: [a: Invalid value: 1: no, b: Invalid value: 2: no]',
  );
});
