import {
  createBudget,
  isSpent,
  PATTERN_MS_MAX,
  PATTERN_WORK_MAX,
  PATTERN_WORK_MIN,
  spend,
  spendMatch,
  STEPS_MAX,
} from './budget';

test('steps are spent one by one', () => {
  const budget = createBudget();
  spend(budget, STEPS_MAX);
  expect(isSpent(budget)).toBe(false);
  spend(budget, 1);
  expect(isSpent(budget)).toBe(true);
});

test('a match that could take too long is not made, and ends the validation', () => {
  const budget = createBudget();
  const match = jest.fn(() => true);
  expect(spendMatch(budget, PATTERN_WORK_MAX, match)).toBe(true);
  expect(spendMatch(budget, PATTERN_WORK_MAX + 1, match)).toBe(false);
  expect(match).toHaveBeenCalledTimes(1);
  expect(isSpent(budget)).toBe(true);
});

test('a pause of the process does not count against little work', () => {
  const late = { steps: 0, patternMs: PATTERN_MS_MAX * 2, cpuAtStart: 0 };
  expect(isSpent({ ...late, patternWork: PATTERN_WORK_MIN })).toBe(false);
  expect(isSpent({ ...late, patternWork: PATTERN_WORK_MIN + 1 })).toBe(true);
});

test('a pause of the process does not count at all if it did not work meanwhile', () => {
  const { cpuAtStart } = createBudget();
  const paused = { steps: 0, patternMs: Infinity, patternWork: Infinity };
  expect(isSpent({ ...paused, cpuAtStart })).toBe(false);
  expect(isSpent({ ...paused, cpuAtStart: cpuAtStart - PATTERN_MS_MAX * 1_000 })).toBe(true);
});
