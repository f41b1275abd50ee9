import { Confirmation } from './confirmation';

let now = 0;
let confirmation: Confirmation;
beforeEach(() => {
  now = 1_000;
  confirmation = new Confirmation(() => now);
});

test('a cache that has applied the revision of a read index is confirmed as of its request', () => {
  expect(confirmation.isWithin(5_000)).toBe(false);
  confirmation.noteReadIndex(7, { requestedAt: now, seen: 7 });
  now += 5_000;
  expect(confirmation.isWithin(5_000)).toBe(true);
  now += 1;
  expect(confirmation.isWithin(5_000)).toBe(false);
});

test('a lagging cache is confirmed once it applies that revision, as of the request', () => {
  confirmation.noteReadIndex(7, { requestedAt: now, seen: 5 });
  now += 3_000;
  confirmation.noteApplied(6);
  expect(confirmation.isWithin(5_000)).toBe(false);
  confirmation.noteApplied(7);
  expect(confirmation.isWithin(3_000)).toBe(true);
  expect(confirmation.isWithin(2_999)).toBe(false);
});

test('events alone do not confirm the cache', () => {
  confirmation.noteReadIndex(7, { requestedAt: now, seen: 7 });
  now += 6_000;
  confirmation.noteApplied(8);
  expect(confirmation.isWithin(5_000)).toBe(false);
  confirmation.noteReadIndex(8, { requestedAt: now, seen: 8 });
  expect(confirmation.isWithin(0)).toBe(true);
  confirmation.forget();
  expect(confirmation.isWithin(5_000)).toBe(false);
});
