import {
  amountsOf,
  amountsText,
  areEqual,
  beyond,
  largestOf,
  listOf,
  listText,
  minus,
  only,
  plus,
  wholeUnits,
  withoutZeros,
} from './amounts';

const some = amountsOf({ cpu: '500m', memory: '1Gi', pods: '2' });

test('a sum has the format of its first non-zero part', () => {
  expect(listOf(plus(some, amountsOf({ cpu: '1', memory: '1024Ki', services: '1' })))).toEqual({
    cpu: '1500m',
    memory: '1025Mi',
    pods: '2',
    services: '1',
  });
  expect(listOf(plus(amountsOf({ memory: '0' }), amountsOf({ memory: '1Gi' })))).toEqual({ memory: '1Gi' });
});

test('a difference is at least zero and has the resources of the first operand', () => {
  expect(listOf(minus(some, amountsOf({ cpu: '1', pods: '1', services: '4' })))).toEqual({
    cpu: '0',
    memory: '1Gi',
    pods: '1',
  });
});

test('the largest amount is found per resource', () => {
  expect(
    listOf(largestOf([some, amountsOf({ cpu: '1', memory: '1' }), amountsOf({ secrets: '1' })])),
  ).toEqual({
    cpu: '1',
    memory: '1Gi',
    pods: '2',
    secrets: '1',
  });
});

test('only resources with a limit can exceed it', () => {
  expect(beyond(some, amountsOf({ cpu: '499m', memory: '1Gi', services: '0' }))).toEqual(['cpu']);
});

test('amounts are equal by value', () => {
  expect(areEqual(some, amountsOf({ cpu: '0.5', memory: '1024Mi', pods: '2' }))).toBe(true);
  expect(areEqual(some, amountsOf({ cpu: '0.5', memory: '1024Mi' }))).toBe(false);
  expect(areEqual(amountsOf({ a: '1' }), amountsOf({ b: '1' }))).toBe(false);
});

test('formatted amounts are sorted by name and canonical', () => {
  expect(amountsText(some)).toBe('cpu=500m,memory=1Gi,pods=2');
  expect(listText({ pods: '2', cpu: '1.500' }, ['pods', 'cpu', 'gone'])).toBe('cpu=1.500,gone=0,pods=2');
  expect(amountsText(only(some, ['pods', 'cpu']))).toBe('cpu=500m,pods=2');
  expect(amountsText(withoutZeros(amountsOf({ a: '0', b: '1' })))).toBe('b=1');
});

test.each([
  ['1', '1'],
  ['1500m', '2'],
  ['1Ki', '1Ki'],
  ['1n', '1'],
  ['0', '0'],
])('%s is %s in whole units', (amount, whole) => {
  const quantity = amountsOf({ a: amount }).get('a');
  expect(quantity && listOf(new Map([['a', wholeUnits(quantity)]]))).toEqual({ a: whole });
});
