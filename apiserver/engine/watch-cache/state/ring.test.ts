import { CacheEvent } from './event';
import { decodeEntry } from './entry-codec';
import { Ring, RingBudget } from './ring';
import { podBytes, PODS } from '../testing/fixtures';

function event(revision: number, appliedAt = 0): CacheEvent {
  const plain = podBytes({ namespace: 'a', name: 'x' });
  const current = decodeEntry(PODS, { key: 'a/x', plain, revision });
  return new CacheEvent({ revision, current, previous: current }, appliedAt);
}

function createRing(budget = new RingBudget(1_000_000)): {
  ring: Ring;
  dropped: number[];
  budget: RingBudget;
} {
  const dropped: number[] = [];
  const ring = new Ring(10, {
    windowMs: 100,
    eventsMax: 3,
    budget,
    dropped: ({ revision }) => dropped.push(revision),
  });
  return { ring, dropped, budget };
}

test('a revision is dropped as a whole, and the floor rises to it', () => {
  const { ring, dropped } = createRing();
  for (const revision of [12, 12, 15, 16]) ring.append(event(revision));
  expect([ring.floor, ring.isFloorVisible]).toEqual([10, true]);
  ring.trim(0);
  expect(dropped).toEqual([12, 12]);
  expect([ring.floor, ring.size]).toEqual([12, 2]);
  ring.trim(101);
  expect([ring.floor, ring.size, ring.bytes]).toEqual([16, 0, 0]);
});

test('the newest revision stays whole when the ring is trimmed in the middle of it', () => {
  const { ring } = createRing();
  for (const revision of [12, 12, 12, 12]) ring.append(event(revision));
  ring.trim(0, 12);
  expect(ring.size).toBe(4);
});

test('positions stay valid while older events are dropped', () => {
  const { ring } = createRing();
  for (let revision = 11; revision <= 500; revision += 1) {
    ring.append(event(revision));
    ring.trim(0);
  }
  expect(ring.positionAfter(498)).toBe(ring.end - 2);
  expect(ring.at(ring.positionAfter(498))?.revision).toBe(499);
  expect([ring.at(0), ring.at(ring.end)]).toEqual([undefined, undefined]);
});

test('without an event at or after its floor, the floor is not visible in its own keys', () => {
  expect(createRing().ring.isFloorVisible).toBe(false);
});

test('the byte budget drops the oldest revision of all ring buffers, and closing one releases its bytes', () => {
  const budget = new RingBudget(2_000);
  const [first, second] = [createRing(budget), createRing(budget)];
  first.ring.append(event(11));
  second.ring.append(event(12));
  first.ring.append(event(13));
  while (budget.bytes <= 2_000) second.ring.append(event(14));
  budget.enforce();
  expect(first.dropped[0]).toBe(11);
  expect(budget.bytes).toBeLessThanOrEqual(2_000);
  first.ring.close();
  second.ring.close();
  expect(budget.bytes).toBe(0);
});
