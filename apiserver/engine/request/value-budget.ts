import type { Budget } from '../../../shared/structural/budget';
import { createBudget, FULL_BUDGET, isSpent, SHORT_BUDGET } from '../../../shared/structural/budget';
import type { LoopBounds } from './loop-bounds';
import { TooLargeHereError } from './loop-bounds';

/**
 * Creates the budget for the validation of values with a schema. On the event loop it is short: few values can have
 * thousands of alternatives each.
 */
export function valueBudget(bounds: LoopBounds | undefined): Budget {
  return createBudget(bounds === undefined ? FULL_BUDGET : SHORT_BUDGET);
}

/** Throws TooLargeHereError when the budget is spent. Without bounds, never. */
export function keepBudgetWithin(bounds: LoopBounds | undefined, budget: Budget): void {
  if (bounds !== undefined && isSpent(budget)) {
    throw new TooLargeHereError('values that take long to compare with their schema');
  }
}
