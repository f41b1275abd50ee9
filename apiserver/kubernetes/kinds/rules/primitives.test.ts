import type { FieldError } from '../../../../shared/errors/field-error';
import { required } from '../../../../shared/errors/field-error';
import { forEachItem, noDuplicates, repeatsIn, untilEnough } from './primitives';

test('a repeated value is reported at every index but the first', () => {
  const isRepeated = repeatsIn(['a', 'b', 'a', '', 'b', 'a', '']);
  expect([0, 1, 2, 3, 4, 5, 6].filter((index) => isRepeated(index))).toEqual([2, 4, 5, 6]);
});

test('names that every object has are no repetition', () => {
  const isRepeated = repeatsIn(['constructor', '__proto__', 'constructor']);
  expect([0, 1, 2].map((index) => isRepeated(index))).toEqual([false, false, true]);
});

test('of keys that are empty none is a duplicate', () => {
  expect(noDuplicates(['', 'a', '', 'a'], (index) => `at[${String(index)}]`)).toMatchObject([
    { field: 'at[3]', reason: 'FieldValueDuplicate' },
  ]);
});

test('validation of an invalid list stops at the limit of reported errors', () => {
  let seen = 0;
  const errors = forEachItem(
    Array.from({ length: 100_000 }, () => ''),
    'at',
    (_item, path) => {
      seen += 1;
      return [required(`${path}.name`), required(`${path}.image`)];
    },
  );
  expect(errors[1_001]).toMatchObject({ field: 'at[500].image' });
  expect(errors).toHaveLength(1_002);
  expect(seen).toBe(501);
});

test('rules run in order until the limit of reported errors is reached', () => {
  const asked: string[] = [];
  const rule = (name: string, count: number) => (): FieldError[] => {
    asked.push(name);
    return Array.from({ length: count }, () => required(name));
  };
  const errors = untilEnough([rule('one', 1_000), rule('another', 1), rule('skipped', 1)]);
  expect(asked).toEqual(['one', 'another']);
  expect(errors.at(-1)).toMatchObject({ field: 'another' });
});
