import { mergedTolerations } from './tolerations';

const exists = (key: string, more: object = {}) => ({ key, operator: 'Exists', ...more });
const equal = (key: string, value: string, more: object = {}) => ({ key, operator: 'Equal', value, ...more });

test.each([
  ['different ones', [exists('a')], [exists('b')], [exists('a'), exists('b')]],
  ['equal ones', [exists('a')], [exists('a')], [exists('a')]],
  ['a value that a key covers', [equal('a', '1')], [exists('a')], [exists('a')]],
  ['a key that an earlier one covers', [exists('a')], [equal('a', '1')], [exists('a')]],
  [
    'one effect that all effects cover',
    [exists('a', { effect: 'NoSchedule' })],
    [exists('a')],
    [exists('a')],
  ],
  ['everything', [exists('a'), equal('b', '1')], [{ operator: 'Exists' }], [{ operator: 'Exists' }]],
  [
    'a longer time',
    [exists('a', { effect: 'NoExecute', tolerationSeconds: 5 })],
    [exists('a', { effect: 'NoExecute', tolerationSeconds: 9 })],
    [exists('a', { effect: 'NoExecute', tolerationSeconds: 9 })],
  ],
  [
    'a time and for ever',
    [exists('a', { effect: 'NoExecute' })],
    [exists('a', { effect: 'NoExecute', tolerationSeconds: 9 })],
    [exists('a', { effect: 'NoExecute' })],
  ],
  ['different values', [equal('a', '1')], [equal('a', '2')], [equal('a', '1'), equal('a', '2')]],
])('%s', (_what, first, second, expected) => {
  expect(mergedTolerations(first, second)).toEqual(expected);
});
