import {
  parseAmounts,
  formatAmounts,
  areEqual,
  findExceeded,
  maxAmounts,
  formatResourceList,
  formatListedAmounts,
  subtractAmounts,
  pickAmounts,
  addAmounts,
  wholeUnits,
  withoutZeros,
} from './amounts';

const some = parseAmounts({ cpu: '500m', memory: '1Gi', pods: '2' });

test('a sum has the format of its first non-zero part', () => {
  expect(
    formatResourceList(addAmounts(some, parseAmounts({ cpu: '1', memory: '1024Ki', services: '1' }))),
  ).toEqual({
    cpu: '1500m',
    memory: '1025Mi',
    pods: '2',
    services: '1',
  });
  expect(
    formatResourceList(addAmounts(parseAmounts({ memory: '0' }), parseAmounts({ memory: '1Gi' }))),
  ).toEqual({ memory: '1Gi' });
});

test('a difference is at least zero and has the resources of the first operand', () => {
  expect(
    formatResourceList(subtractAmounts(some, parseAmounts({ cpu: '1', pods: '1', services: '4' }))),
  ).toEqual({
    cpu: '0',
    memory: '1Gi',
    pods: '1',
  });
});

test('the largest amount is found per resource', () => {
  expect(
    formatResourceList(
      maxAmounts([some, parseAmounts({ cpu: '1', memory: '1' }), parseAmounts({ secrets: '1' })]),
    ),
  ).toEqual({
    cpu: '1',
    memory: '1Gi',
    pods: '2',
    secrets: '1',
  });
});

test('only resources with a limit can exceed it', () => {
  expect(findExceeded(some, parseAmounts({ cpu: '499m', memory: '1Gi', services: '0' }))).toEqual(['cpu']);
});

test('amounts are equal by value', () => {
  expect(areEqual(some, parseAmounts({ cpu: '0.5', memory: '1024Mi', pods: '2' }))).toBe(true);
  expect(areEqual(some, parseAmounts({ cpu: '0.5', memory: '1024Mi' }))).toBe(false);
  expect(areEqual(parseAmounts({ a: '1' }), parseAmounts({ b: '1' }))).toBe(false);
});

test('formatted amounts are sorted by name and canonical', () => {
  expect(formatAmounts(some)).toBe('cpu=500m,memory=1Gi,pods=2');
  expect(formatListedAmounts({ pods: '2', cpu: '1.500' }, ['pods', 'cpu', 'gone'])).toBe(
    'cpu=1.500,gone=0,pods=2',
  );
  expect(formatAmounts(pickAmounts(some, ['pods', 'cpu']))).toBe('cpu=500m,pods=2');
  expect(formatAmounts(withoutZeros(parseAmounts({ a: '0', b: '1' })))).toBe('b=1');
});

test.each([
  ['1', '1'],
  ['1500m', '2'],
  ['1Ki', '1Ki'],
  ['1n', '1'],
  ['0', '0'],
])('%s is %s in whole units', (amount, whole) => {
  const quantity = parseAmounts({ a: amount }).get('a');
  expect(quantity && formatResourceList(new Map([['a', wholeUnits(quantity)]]))).toEqual({ a: whole });
});
