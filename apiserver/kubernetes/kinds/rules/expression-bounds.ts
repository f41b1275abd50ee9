import type { LoopBounds } from '../../../engine/request/loop-bounds';
import { TooLargeHereError } from '../../../engine/request/loop-bounds';

/** Characters of expressions that are compiled on the event loop without a pause, in about 15 ms. */
export const SOURCE_LENGTH_MAX = 1_500;

/**
 * Cost units of work on the event loop without a pause, in at most 15 ms: those of one expression of admission with its variables, or of
 * all rules of a custom resource.
 */
const LOOP_COST_MAX = 20_000;

/** Throws TooLargeHereError for more characters of expressions than the event loop compiles at once. Never without bounds. */
export function keepSourceWithin(bounds: LoopBounds | undefined, characters: number): void {
  if (bounds === undefined || characters <= SOURCE_LENGTH_MAX) return;
  throw new TooLargeHereError(`expressions of ${String(characters)} characters`);
}

/** Throws TooLargeHereError for evaluations that cost more work than the event loop may spend without a pause. Never without bounds. */
export function keepCostWithin(bounds: LoopBounds | undefined, cost: number): void {
  if (bounds === undefined || cost <= LOOP_COST_MAX) return;
  throw new TooLargeHereError(`expressions that cost more than ${String(LOOP_COST_MAX)} units`);
}
