import type { ResourceList } from '../../shared/quota/amounts';
import { amountsOf, listOf } from '../../shared/quota/amounts';
import { nextStatus } from './next-status';
import { RecentCharges } from './recent-charges';

function next(
  { spec, hard = spec, used }: { spec: ResourceList; hard?: ResourceList; used?: ResourceList },
  counted: ResourceList,
  recent: ResourceList = {},
): { hard: unknown; used: unknown; isChanged: boolean; isSettled: boolean } {
  const quota = {
    metadata: { name: 'q' },
    spec: { hard: spec },
    status: { hard, ...(used === undefined ? {} : { used }) },
  };
  const result = nextStatus(quota, { counted: amountsOf(counted), recent: amountsOf(recent) });
  return { ...result, hard: listOf(result.hard), used: listOf(result.used) };
}

test('a quota that is new is told what is used, and what it limits', () => {
  const status = next({ spec: { pods: '5', cpu: '1' }, hard: {} }, { pods: '2', cpu: '500m', services: '1' });
  expect(status).toEqual({
    hard: { pods: '5', cpu: '1' },
    used: { pods: '2', cpu: '500m' },
    isChanged: true,
    isSettled: true,
  });
});

test('what is right already is not changed, whatever way it is written', () => {
  const status = next(
    { spec: { memory: '1Gi' }, hard: { memory: '1024Mi' }, used: { memory: '1024Ki' } },
    { memory: '1Mi' },
  );
  expect(status).toMatchObject({ isChanged: false, isSettled: true });
});

test('what nobody uses any more is given back, and what more is used is told', () => {
  const status = next(
    { spec: { pods: '5', secrets: '5' }, used: { pods: '3', secrets: '1' } },
    { pods: '1', secrets: '2' },
  );
  expect(status).toMatchObject({ used: { pods: '1', secrets: '2' }, isChanged: true, isSettled: true });
});

test('what was charged a moment ago is not given back, and all else is', () => {
  const quota = { spec: { pods: '9', secrets: '9' }, used: { pods: '5', secrets: '5' } };
  expect(next(quota, { pods: '1', secrets: '4' }, { pods: '2', secrets: '2' })).toMatchObject({
    used: { pods: '3', secrets: '5' },
    isChanged: true,
    isSettled: false,
  });
});

test('of what cannot be counted it stays as it was, and of what is not limited any more nothing', () => {
  const quota = {
    spec: { pods: '5', 'count/gone': '5', 'count/new': '1' },
    hard: {},
    used: { pods: '1', 'count/gone': '2', cpu: '1' },
  };
  expect(next(quota, { pods: '1' })).toMatchObject({
    used: { pods: '1', 'count/gone': '2' },
    isSettled: true,
  });
});

describe('recent charges', () => {
  let nowMs = 0;
  const charges = new RecentCharges({ now: () => nowMs }, 1_000);
  const note = (before: ResourceList, after: ResourceList): void =>
    charges.note('k', amountsOf(before), amountsOf(after));

  test('are what is used more, for as long as they are recent', () => {
    nowMs = 500;
    note({ pods: '1', cpu: '3' }, { pods: '2', cpu: '2', secrets: '1' });
    nowMs = 900;
    note({ pods: '2' }, { pods: '4' });
    expect(listOf(charges.of('k'))).toEqual({ pods: '3', secrets: '1' });
    nowMs = 1_499;
    expect(listOf(charges.of('k'))).toEqual({ pods: '3', secrets: '1' });
    nowMs = 1_551;
    expect(listOf(charges.of('k'))).toEqual({ pods: '2' });
    nowMs = 1_951;
    expect(listOf(charges.of('k'))).toEqual({});
  });

  test('of a steady stream end as soon', () => {
    nowMs = 10_000;
    for (let used = 0; used < 200; used += 1) {
      note({ pods: String(used) }, { pods: String(used + 1) });
      nowMs += 10;
    }
    expect(Number(listOf(charges.of('k'))['pods'])).toBeGreaterThanOrEqual(99);
    expect(Number(listOf(charges.of('k'))['pods'])).toBeLessThanOrEqual(106);
    charges.forget('k');
    expect(listOf(charges.of('k'))).toEqual({});
  });
});
