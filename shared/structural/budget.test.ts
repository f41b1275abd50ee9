import { createBudget, isSpent, FULL_BUDGET, SHORT_BUDGET, spend, spendMatch } from './budget';

test('steps are counted', () => {
  const budget = createBudget();
  spend(budget, FULL_BUDGET.stepsMax);
  expect(isSpent(budget)).toBe(false);
  spend(budget, 1);
  expect(isSpent(budget)).toBe(true);
});

test('a match that could take too long is skipped and exhausts the budget', () => {
  const budget = createBudget();
  const match = jest.fn(() => true);
  expect(spendMatch(budget, FULL_BUDGET.matchWorkMax, match)).toBe(true);
  expect(spendMatch(budget, FULL_BUDGET.matchWorkMax + 1, match)).toBe(false);
  expect(match).toHaveBeenCalledTimes(1);
  expect(isSpent(budget)).toBe(true);
});

test('a pause of the process does not count after little pattern work', () => {
  const late = { limits: FULL_BUDGET, steps: 0, patternMs: FULL_BUDGET.patternMsMax * 2, cpuAtStart: 0 };
  expect(isSpent({ ...late, patternWork: FULL_BUDGET.patternWorkMin })).toBe(false);
  expect(isSpent({ ...late, patternWork: FULL_BUDGET.patternWorkMin + 1 })).toBe(true);
});

test('only processor time counts', () => {
  const { cpuAtStart } = createBudget();
  const paused = { limits: FULL_BUDGET, steps: 0, patternMs: Infinity, patternWork: Infinity };
  expect(isSpent({ ...paused, cpuAtStart })).toBe(false);
  expect(isSpent({ ...paused, cpuAtStart: cpuAtStart - FULL_BUDGET.patternMsMax * 1_000 })).toBe(true);
});

test('a short budget is exhausted earlier', () => {
  const short = createBudget(SHORT_BUDGET);
  spend(short, SHORT_BUDGET.stepsMax + 1);
  expect([isSpent(short), SHORT_BUDGET.stepsMax < FULL_BUDGET.stepsMax]).toEqual([true, true]);
  expect(spendMatch(createBudget(SHORT_BUDGET), SHORT_BUDGET.matchWorkMax + 1, () => true)).toBe(false);
});
