import { areWithin, mergedTolerations } from './tolerations';

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
  [
    'no operator, which means Equal and covers it',
    [equal('a', '1')],
    [{ key: 'a', value: '1' }],
    [{ key: 'a', value: '1' }],
  ],
  [
    'no operator, which only Exists covers',
    [{ key: 'a', value: '1' }],
    [equal('a', '1', { effect: 'NoSchedule' })],
    [{ key: 'a', value: '1' }],
  ],
  [
    'times on both sides of for ever',
    [exists('a', { effect: 'NoExecute', tolerationSeconds: 5 }), exists('a', { effect: 'NoExecute' })],
    [equal('a', '1', { effect: 'NoExecute', tolerationSeconds: 9 })],
    [exists('a', { effect: 'NoExecute' })],
  ],
  ['different values', [equal('a', '1')], [equal('a', '2')], [equal('a', '1'), equal('a', '2')]],
])('%s', (_what, first, second, expected) => {
  expect(mergedTolerations(first, second)).toEqual(expected);
});

// A comparison of all pairs would hold the event loop for minutes.
test('as many as one request can contain', () => {
  const many = Array.from({ length: 50_000 }, (_each, index) => exists(`k${String(index)}`));
  expect(mergedTolerations(many, many)).toEqual(many);
  expect(areWithin(many, [...many, exists('other')])).toBe(true);
  expect(areWithin(many, many.slice(1))).toBe(false);
});

test.each([
  [true, [exists('a')], [exists('a'), exists('b')]],
  [true, [equal('a', '1')], [exists('a')]],
  [true, [{ key: 'a', value: '1' }], [{ key: 'a', value: '1' }]],
  [false, [exists('a')], [equal('a', '1')]],
  [false, [exists('a')], [exists('a', { effect: 'NoSchedule' })]],
  [false, [{ key: 'a', value: '1' }], [equal('a', '1')]],
])('%s: %j within %j', (expected, tolerations, allowed) => {
  expect(areWithin(tolerations, allowed)).toBe(expected);
});
