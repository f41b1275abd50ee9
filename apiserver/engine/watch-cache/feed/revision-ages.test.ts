import { RevisionAges } from './revision-ages';

const AGE = 6_400;

test('a revision expires once a newer one is older than the maximum age', () => {
  const ages = new RevisionAges(AGE);
  ages.note(7, 0);
  ages.note(8, 1_000);
  expect(ages.hasExpired(7, 1_000 + AGE - 1)).toBe(false);
  expect(ages.hasExpired(7, 1_000 + AGE)).toBe(true);
  expect(ages.hasExpired(8, 1_000 + AGE)).toBe(false);
});

test('the newest revision of an idle store never expires', () => {
  const ages = new RevisionAges(AGE);
  for (let now = 0; now < 10 * AGE; now += 50) ages.note(7, now);
  expect([ages.hasExpired(7, 10 * AGE), ages.hasExpired(6, 10 * AGE)]).toEqual([false, true]);
});

test('an old mark still counts if no newer one was recorded', () => {
  const ages = new RevisionAges(AGE);
  ages.note(8, 0);
  ages.note(9, 100 * AGE);
  expect(ages.hasExpired(7, 100 * AGE)).toBe(true);
});

test('a reset drops all marks', () => {
  const ages = new RevisionAges(AGE);
  ages.note(8, 0);
  ages.forget();
  ages.note(3, 10);
  expect(ages.hasExpired(2, AGE)).toBe(false);
  expect(ages.hasExpired(2, AGE + 10)).toBe(true);
});
