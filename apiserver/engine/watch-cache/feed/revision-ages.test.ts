import { RevisionAges } from './revision-ages';

const AGE = 6_400;

test('a revision is over once a newer one has been there for the greatest age', () => {
  const ages = new RevisionAges(AGE);
  ages.note(7, 0);
  ages.note(8, 1_000);
  expect(ages.isOver(7, 1_000 + AGE - 1)).toBe(false);
  expect(ages.isOver(7, 1_000 + AGE)).toBe(true);
  expect(ages.isOver(8, 1_000 + AGE)).toBe(false);
});

test('the newest revision of a store in which nothing happens is never over', () => {
  const ages = new RevisionAges(AGE);
  for (let now = 0; now < 10 * AGE; now += 50) ages.note(7, now);
  expect([ages.isOver(7, 10 * AGE), ages.isOver(6, 10 * AGE)]).toEqual([false, true]);
});

test('what was noted long ago still counts when nothing was noted since', () => {
  const ages = new RevisionAges(AGE);
  ages.note(8, 0);
  ages.note(9, 100 * AGE);
  expect(ages.isOver(7, 100 * AGE)).toBe(true);
});

test('a state that is forgotten says nothing about the next', () => {
  const ages = new RevisionAges(AGE);
  ages.note(8, 0);
  ages.forget();
  ages.note(3, 10);
  expect(ages.isOver(2, AGE)).toBe(false);
  expect(ages.isOver(2, AGE + 10)).toBe(true);
});
