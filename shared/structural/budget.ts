/**
 * What one validation may cost. Its time is the size of the object times that of the schema at worst, and both are other people's: without
 * a bound the two could hold the process. Honest objects stay far below.
 */
export interface Budget {
  steps: number;
  patternMs: number;
  /** Characters times instructions. */
  patternWork: number;
  /** Processor time when the budget was made, in microseconds. */
  readonly cpuAtStart: number;
}

/** Values compared with a schema; a million takes some 60 ms. It is enough for an object of 1 MB in which every 30 bytes have four alternatives. */
export const STEPS_MAX = 4_000_000;
/** Time in regular expressions, which counts for objects with much work for them only: else a pause of the process would refuse small ones. */
export const PATTERN_MS_MAX = 60;
export const PATTERN_WORK_MIN = 500_000;
/** A text is not matched where this could take more than a tenth of a second: characters times instructions of the pattern. */
export const PATTERN_WORK_MAX = 2_000_000;

/** So many characters of a text are read, or written into an error, in the time of one step. */
export const TEXT_CHARS_PER_STEP = 16;
/** So many characters of a text by which objects or lists are compared are made in that time. */
export const KEY_CHARS_PER_STEP = 4;

export function createBudget(): Budget {
  return { steps: 0, patternMs: 0, patternWork: 0, cpuAtStart: cpuMicroseconds() };
}

export function spend(budget: Budget, steps: number): void {
  budget.steps += steps;
}

export function isSpent({ steps, patternMs, patternWork, cpuAtStart }: Budget): boolean {
  if (steps > STEPS_MAX) return true;
  if (patternMs <= PATTERN_MS_MAX || patternWork <= PATTERN_WORK_MIN) return false;
  // Time that passed while the process waited for a processor is not the object's.
  return cpuMicroseconds() - cpuAtStart > PATTERN_MS_MAX * 1_000;
}

/** Runs a match and counts its time; false, and nothing is left of the budget, if it could take too long. */
export function spendMatch(budget: Budget, work: number, match: () => boolean): boolean {
  budget.patternWork += work;
  if (work > PATTERN_WORK_MAX) {
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
