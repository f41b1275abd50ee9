import { Confirmation } from './confirmation';

let now = 0;
let confirmation: Confirmation;
beforeEach(() => {
  now = 1_000;
  confirmation = new Confirmation(() => now);
});

test('a cache that has what a read index told was as fresh as the store when that was asked for', () => {
  expect(confirmation.isWithin(5_000)).toBe(false);
  confirmation.told(7, { askedAt: now, seen: 7 });
  now += 5_000;
  expect(confirmation.isWithin(5_000)).toBe(true);
  now += 1;
  expect(confirmation.isWithin(5_000)).toBe(false);
});

test('one that lags is confirmed once it has come there, for the time of the question', () => {
  confirmation.told(7, { askedAt: now, seen: 5 });
  now += 3_000;
  confirmation.seen(6);
  expect(confirmation.isWithin(5_000)).toBe(false);
  confirmation.seen(7);
  expect(confirmation.isWithin(3_000)).toBe(true);
  expect(confirmation.isWithin(2_999)).toBe(false);
});

test('one that follows a store in which nothing is asked is not confirmed by its own progress', () => {
  confirmation.told(7, { askedAt: now, seen: 7 });
  now += 6_000;
  confirmation.seen(8);
  expect(confirmation.isWithin(5_000)).toBe(false);
  confirmation.told(8, { askedAt: now, seen: 8 });
  expect(confirmation.isWithin(0)).toBe(true);
  confirmation.forget();
  expect(confirmation.isWithin(5_000)).toBe(false);
});
