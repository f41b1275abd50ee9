/**
 * What one validation may cost. Its time is the size of the object times that of the schema at worst, and both are other people's: without
 * a bound the two could hold the process. Honest objects stay far below.
 */
export interface Budget {
  readonly limits: BudgetLimits;
  steps: number;
  patternMs: number;
  /** Characters times instructions. */
  patternWork: number;
  /** Processor time when the budget was made, in microseconds. */
  readonly cpuAtStart: number;
}

export interface BudgetLimits {
  /** Values compared with a schema; a million takes some 60 ms. */
  readonly stepsMax: number;
  /** Time in regular expressions, which counts for objects with much work for them only: else a pause of the process would refuse small ones. */
  readonly patternMsMax: number;
  readonly patternWorkMin: number;
  /** A text is not matched where this could be more work: characters times instructions of the pattern. A million takes some 75 ms at worst. */
  readonly matchWorkMax: number;
}

/** Enough for an object of 1 MB in which every 30 bytes have four alternatives. */
export const FULL_BUDGET: BudgetLimits = {
  stepsMax: 4_000_000,
  patternMsMax: 60,
  patternWorkMin: 500_000,
  matchWorkMax: 2_000_000,
};

/** Some 15 ms, for whoever can have it done elsewhere then. */
export const SHORT_BUDGET: BudgetLimits = {
  stepsMax: 200_000,
  patternMsMax: 8,
  patternWorkMin: 50_000,
  matchWorkMax: 150_000,
};

/** So many characters of a text are read, or written into an error, in the time of one step. */
export const TEXT_CHARS_PER_STEP = 16;
/** So many characters of a text by which objects or lists are compared are made in that time. */
export const KEY_CHARS_PER_STEP = 4;

export function createBudget(limits: BudgetLimits = FULL_BUDGET): Budget {
  return { limits, steps: 0, patternMs: 0, patternWork: 0, cpuAtStart: cpuMicroseconds() };
}

export function spend(budget: Budget, steps: number): void {
  budget.steps += steps;
}

export function isSpent({ limits, steps, patternMs, patternWork, cpuAtStart }: Budget): boolean {
  if (steps > limits.stepsMax) return true;
  if (patternMs <= limits.patternMsMax || patternWork <= limits.patternWorkMin) return false;
  // Time that passed while the process waited for a processor is not the object's.
  return cpuMicroseconds() - cpuAtStart > limits.patternMsMax * 1_000;
}

/** Runs a match and counts its time; false, and nothing is left of the budget, if it could take too long. */
export function spendMatch(budget: Budget, work: number, match: () => boolean): boolean {
  budget.patternWork += work;
  if (work > budget.limits.matchWorkMax) {
    budget.steps = Infinity;
    return false;
  }
  const start = performance.now();
  const result = match();
  budget.patternMs += performance.now() - start;
  return result;
}

function cpuMicroseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
