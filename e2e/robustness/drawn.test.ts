import { createRandom } from '../list-watch/chaos/seeded-random';
import { createFaults, FAULT_KINDS } from './faults/schedule';
import { createDraws } from './load/draw';
import { drawList } from './load/list-client';

const DRAWN = 500;
const LIMITS = { durationMsMax: 8_000, pauseMsMax: 3_000 };

function drawn(seed: number): readonly unknown[] {
  const fault = createFaults(createRandom(seed), LIMITS);
  const request = createDraws(createRandom(seed + 1), 3, 3);
  const lists = createRandom(seed + 2);
  return Array.from({ length: DRAWN }, () => [fault(), request(), drawList(lists, 3)]);
}

test('a seed repeats every fault, every request and every list, and another seed draws others', () => {
  expect(drawn(7)).toEqual(drawn(7));
  expect(drawn(8)).not.toEqual(drawn(7));
});

test('every kind of fault comes once before any comes again', () => {
  const next = createFaults(createRandom(1), LIMITS);
  const first = FAULT_KINDS.map(() => next().kind);
  expect(first.toSorted()).toEqual(FAULT_KINDS.toSorted());
});

test('no two writes of two clients put the same into an object', () => {
  const turns = [0, 1, 2].flatMap((client) => {
    const next = createDraws(createRandom(5), client, 3);
    return Array.from({ length: DRAWN }, () => next().turn);
  });
  expect(new Set(turns).size).toBe(turns.length);
});
