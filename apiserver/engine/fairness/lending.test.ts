import { NEWEST_LEVEL } from '../../testing/kinds/newest-level';
import type { PriorityLevelConfiguration } from '../../../shared/api/types/flowcontrol-v1';
import { silentLog } from '../../../shared/log/log';
import { MANDATORY_FLOW_OBJECTS } from '../../kubernetes/kinds/flowcontrol/mandatory-flow';
import { FlowControl } from './fairness';
import type { LendingLevel } from './lending';
import { LENDING_PERIOD_MS, lentSeats, SmoothedDemand } from './lending';
import { limitedTo } from './level';
import type { Queue, QueueSet } from './queue-set';

function lending(
  nominal: number,
  [min, max]: readonly [number, number],
  [highest, smoothed]: readonly [number, number],
): LendingLevel {
  return { nominal, min, max, demand: { highest, smoothed } };
}

describe('the current seats of levels', () => {
  test.each<[string, readonly LendingLevel[], number, readonly number[]]>([
    ['go to the demand', [lending(60, [30, 600], [100, 100]), lending(40, [20, 600], [0, 0])], 0, [80, 20]],
    [
      'are in proportion to it',
      [lending(50, [0, 600], [0, 30]), lending(50, [0, 600], [0, 10])],
      0,
      [75, 25],
    ],
    [
      'never exceed what may be borrowed',
      [lending(60, [30, 66], [100, 100]), lending(40, [20, 600], [5, 5])],
      0,
      [66, 34],
    ],
    [
      'leave each level what it needs of its own',
      [lending(60, [0, 600], [90, 90]), lending(40, [0, 600], [40, 40])],
      0,
      [60, 40],
    ],
    [
      'are nominal if nothing may be lent',
      [lending(60, [60, 60], [99, 99]), lending(40, [40, 40], [0, 0])],
      0,
      [60, 40],
    ],
    [
      'shrink by what exempt levels keep',
      [lending(60, [20, 600], [60, 60]), lending(40, [20, 600], [40, 40])],
      30,
      [40, 30],
    ],
    [
      'are the least ones if exempt levels keep the rest',
      [lending(60, [20, 600], [60, 60]), lending(40, [20, 600], [40, 40])],
      70,
      [20, 20],
    ],
  ])('%s', (_title, levels, exempt, expected) => {
    const total = levels.reduce((sum, { nominal }) => sum + nominal, 0);
    expect(lentSeats(levels, { total, exempt })).toEqual(expected);
  });

  test('sum up to all seats, whatever the levels are', () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let round = 0; round < 300; round += 1) {
      const levels = Array.from({ length: 1 + random(12) }, () => {
        const nominal = random(100);
        const demand = random(300);
        return lending(nominal, [random(nominal + 1), nominal + 1_000], [demand, random(demand + 50)]);
      });
      const total = levels.reduce((sum, { nominal }) => sum + nominal, 0);
      const seats = lentSeats(levels, { total, exempt: 0 });
      const sum = seats.reduce((all, each) => all + each, 0);
      expect(Math.abs(sum - total)).toBeLessThanOrEqual(levels.length);
      for (const [at, { min, max }] of levels.entries()) {
        expect(seats[at]).toBeGreaterThanOrEqual(min);
        expect(seats[at]).toBeLessThanOrEqual(max);
      }
    }
  });
});

test('demand rises at once and falls slowly', () => {
  const demand = new SmoothedDemand();
  demand.update({ average: 10, deviation: 2, max: 20, tookMs: 10_000 });
  expect([demand.highest, demand.smoothed]).toEqual([20, 12]);
  demand.update({ average: 0, deviation: 0, max: 0, tookMs: 10_000 });
  expect(demand.highest).toBe(0);
  expect(demand.smoothed).toBeCloseTo(12 * 0.977);
});

describe(`at ${NEWEST_LEVEL}, a level`, () => {
  let nowMs = 0;
  function level(name: string, lendable: object): PriorityLevelConfiguration {
    const queuing = { queues: 16, handSize: 4, queueLengthLimit: 50 };
    const limited = { ...limitedTo(95, { type: 'Queue', queuing }), ...lendable };
    return { metadata: { name, uid: name }, spec: { type: 'Limited', limited } };
  }

  /** Starts a control of 195 seats: 95 for each level, and 5 for catch-all. */
  function start(...levels: readonly PriorityLevelConfiguration[]): {
    control: FlowControl;
    queuesOf: (name: string) => QueueSet;
  } {
    nowMs = 0;
    const control = new FlowControl({
      mandatory: MANDATORY_FLOW_OBJECTS,
      seats: 195,
      log: silentLog,
      now: () => nowMs,
    });
    control.configure(levels, []);
    const queuesOf = (name: string): QueueSet => {
      const queues = [...control.levels].find((each) => each.name === name)?.queues;
      if (queues === undefined) throw new Error(`no level ${name}`);
      return queues;
    };
    return { control, queuesOf };
  }

  function take(queues: QueueSet, seats: number): readonly (Queue | undefined)[] {
    return Array.from({ length: seats }, (_each, at) => queues.tryStart([at % 16], 1, nowMs));
  }

  function release(queues: QueueSet, taken: readonly (Queue | undefined)[]): void {
    for (const queue of taken)
      if (queue !== undefined) queues.finish(queue, { seats: 1, tookMs: 1, now: nowMs });
  }

  test('has fewer seats while requests of the exempt level need them', () => {
    const { control, queuesOf } = start(
      level('one', { lendablePercent: 50 }),
      level('two', { lendablePercent: 50 }),
    );
    const exempt = [...control.levels].find(({ queues }) => queues === undefined);
    for (let at = 0; at < 500; at += 1) exempt?.beginExempt();
    for (let at = 0; at < 500; at += 1) exempt?.endExempt();
    nowMs += LENDING_PERIOD_MS;
    control.lend();
    expect([queuesOf('one').limits.seats, queuesOf('two').limits.seats]).toEqual([47, 47]);
    nowMs += LENDING_PERIOD_MS;
    control.lend();
    expect(queuesOf('one').limits.seats).toBeGreaterThan(90);
  });

  test('borrows the seats that another one does not need, and gives them back', () => {
    const { control, queuesOf } = start(
      level('busy', { lendablePercent: 50 }),
      level('idle', { lendablePercent: 60 }),
    );
    // Half of what can be lent is lent at first.
    expect([queuesOf('busy').limits.seats, queuesOf('idle').limits.seats]).toEqual([71, 67]);
    const busy = take(queuesOf('busy'), 200);
    nowMs += 10_000;
    control.lend();
    expect(queuesOf('busy').limits.seats).toBeGreaterThan(95);
    expect(queuesOf('idle').limits.seats).toBeGreaterThanOrEqual(38);
    const borrowed = queuesOf('busy').limits.seats;
    release(queuesOf('busy'), busy);
    take(queuesOf('idle'), 95);
    nowMs += 10_000;
    control.lend();
    expect(queuesOf('busy').limits.seats).toBeLessThan(borrowed);
    expect(queuesOf('idle').limits.seats).toBeGreaterThan(67);
  });

  test('keeps the seats that it needs while replicas share the limits', () => {
    const { control, queuesOf } = start(
      level('busy', { lendablePercent: 90 }),
      level('idle', { lendablePercent: 0 }),
    );
    control.divide(new Map(), 1 / 2);
    const taken = take(queuesOf('busy'), 200).filter((queue) => queue !== undefined);
    nowMs += 10_000;
    control.lend();
    expect(taken.length).toBeGreaterThan(20);
    expect(queuesOf('busy').limits.seats).toBeGreaterThanOrEqual(taken.length);
  });

  test('lends nothing and borrows nothing if its object says so', () => {
    const fixed = { lendablePercent: 0, borrowingLimitPercent: 0 };
    const { control, queuesOf } = start(level('busy', fixed), level('idle', fixed));
    take(queuesOf('busy'), 200);
    nowMs += 10_000;
    control.lend();
    expect([queuesOf('busy').limits.seats, queuesOf('idle').limits.seats]).toEqual([95, 95]);
  });
});
