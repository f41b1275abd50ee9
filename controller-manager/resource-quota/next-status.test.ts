import type { ResourceList } from '../../shared/quota/amounts';
import { NOTHING, parseAmounts, formatResourceList } from '../../shared/quota/amounts';
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
  const result = nextStatus(quota, { counted: parseAmounts(counted), recent: parseAmounts(recent) });
  return { ...result, hard: formatResourceList(result.hard), used: formatResourceList(result.used) };
}

test('a new quota gets its usage and its limits', () => {
  const status = next({ spec: { pods: '5', cpu: '1' }, hard: {} }, { pods: '2', cpu: '500m', services: '1' });
  expect(status).toEqual({
    hard: { pods: '5', cpu: '1' },
    used: { pods: '2', cpu: '500m' },
    isChanged: true,
    isSettled: true,
  });
});

test('an equal status is not written, in whatever notation', () => {
  const status = next(
    { spec: { memory: '1Gi' }, hard: { memory: '1024Mi' }, used: { memory: '1024Ki' } },
    { memory: '1Mi' },
  );
  expect(status).toMatchObject({ isChanged: false, isSettled: true });
});

test('unused amounts are released and additional usage is added', () => {
  const status = next(
    { spec: { pods: '5', secrets: '5' }, used: { pods: '3', secrets: '1' } },
    { pods: '1', secrets: '2' },
  );
  expect(status).toMatchObject({ used: { pods: '1', secrets: '2' }, isChanged: true, isSettled: true });
});

test('recent charges are not released, everything else is', () => {
  const quota = { spec: { pods: '9', secrets: '9' }, used: { pods: '5', secrets: '5' } };
  expect(next(quota, { pods: '1', secrets: '4' }, { pods: '2', secrets: '2' })).toMatchObject({
    used: { pods: '3', secrets: '5' },
    isChanged: true,
    isSettled: false,
  });
});

test('uncountable resources keep their usage, and resources without a limit are dropped', () => {
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

describe('pending charges', () => {
  let nowMs = 0;
  let charges = new RecentCharges({ now: () => nowMs }, 1_000);
  beforeEach(() => {
    nowMs = 0;
    charges = new RecentCharges({ now: () => nowMs }, 1_000);
    charges.open('k', NOTHING, NOTHING);
  });
  const charged = (version: number, before: ResourceList, after: ResourceList): void =>
    charges.charged('k', version, { before: parseAmounts(before), after: parseAmounts(after) });
  const stored = (version: number, uses: ResourceList): void =>
    charges.stored('k', version, parseAmounts(uses));
  const left = (): ResourceList => formatResourceList(charges.of('k'));

  test('are usage beyond the count, until their window ends', () => {
    nowMs = 500;
    charged(5, { pods: '1', cpu: '3' }, { pods: '2', cpu: '2', secrets: '1' });
    nowMs = 900;
    charged(6, { pods: '2' }, { pods: '4' });
    expect(left()).toEqual({ pods: '3', secrets: '1' });
    nowMs = 1_500;
    expect(left()).toEqual({ pods: '2' });
    nowMs = 1_900;
    expect(left()).toEqual({});
  });

  test('are settled by objects stored after them, whichever watch reports first', () => {
    charged(5, {}, { pods: '1', cpu: '2' });
    charged(7, { pods: '1', cpu: '2' }, { pods: '2', cpu: '3' });
    stored(6, { pods: '1', cpu: '2' });
    expect(left()).toEqual({ pods: '1', cpu: '1' });
    stored(10, { pods: '1', cpu: '1' });
    expect(left()).toEqual({});
    stored(12, { pods: '1' });
    charged(11, { pods: '2' }, { pods: '3' });
    expect(left()).toEqual({});
    charged(13, { pods: '3' }, { pods: '4' });
    stored(9, { pods: '1' });
    expect(left()).toEqual({ pods: '1' });
  });

  test('are at the start no more than the usage beyond the count', () => {
    charges.open('k', parseAmounts({ pods: '5' }), parseAmounts({ pods: '4' }));
    expect(left()).toEqual({ pods: '1' });
    stored(1, { pods: '1' });
    expect(left()).toEqual({});
  });

  test("do not arise from this program's own writes, whatever is reported first", () => {
    charged(5, {}, { pods: '3' });
    charges.wrote('k', 5);
    expect(left()).toEqual({});
    charges.wrote('k', 8);
    charged(8, { pods: '3' }, { pods: '4' });
    expect(left()).toEqual({});
  });

  test('are counted in bounded memory, however many there are', () => {
    for (let used = 0; used < 1_000; used += 1) {
      charged(used, { pods: String(used) }, { pods: String(used + 1) });
    }
    expect(left()).toEqual({ pods: '1k' });
    stored(2_000, { pods: '999' });
    expect(left()).toEqual({ pods: '1' });
    charges.forget('k');
    expect(left()).toEqual({});
  });
});
