/**
 * Limits the cost of one validation against denial of service. The time is the size of the object times the
 * size of the schema at worst, and clients choose both. Ordinary objects stay far below the limits.
 */
export interface Budget {
  readonly limits: BudgetLimits;
  steps: number;
  patternMs: number;
  /** Work of regular expressions: characters times instructions. */
  patternWork: number;
  /** Processor time of the process when the budget was made, in microseconds. */
  readonly cpuAtStart: number;
}

export interface BudgetLimits {
  /** Values compared with a schema. A million takes about 60 ms. */
  readonly stepsMax: number;
  /**
   * Milliseconds in regular expressions. It counts only after much pattern work, since otherwise a pause of
   * the process would refuse small objects.
   */
  readonly patternMsMax: number;
  readonly patternWorkMin: number;
  /** Largest work of one match: characters times instructions. A million takes at most about 75 ms. */
  readonly matchWorkMax: number;
}

/** Enough for an object of 1 MB in which every 30 bytes have four alternatives. */
export const FULL_BUDGET: BudgetLimits = {
  stepsMax: 4_000_000,
  patternMsMax: 60,
  patternWorkMin: 500_000,
  matchWorkMax: 2_000_000,
};

/** About 15 ms, for callers that can retry the validation on a worker. */
export const SHORT_BUDGET: BudgetLimits = {
  stepsMax: 200_000,
  patternMsMax: 8,
  patternWorkMin: 50_000,
  matchWorkMax: 150_000,
};

/** Characters of a text that are read, or written into an error, in the time of one step. */
export const TEXT_CHARS_PER_STEP = 16;
/** Characters of a comparison key that are written in the time of one step. */
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
  // Counts processor time, not time in which the process was descheduled.
  return cpuMicroseconds() - cpuAtStart > limits.patternMsMax * 1_000;
}

/** Runs a match and counts its time. Returns false and exhausts the budget if the match could take too long. */
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
