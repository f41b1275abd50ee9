import type { CelType } from '../check/types';
import type { Expr } from '../parser/ast';

/** The largest count that upstream's estimates can hold; sums and products stop there. */
export const COUNT_MAX = 2 ** 64;

/** The smallest and the largest that a size or a cost can be. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

export const UNKNOWN: Range = { min: 0, max: COUNT_MAX };
export const ZERO: Range = { min: 0, max: 0 };
export const ONE: Range = { min: 1, max: 1 };

export function exactly(value: number): Range {
  return { min: value, max: value };
}

/** Multiplies counts as upstream does: nothing times unlimited is nothing. */
function multiplyCounts(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : Math.min(a * b, COUNT_MAX);
}

export function plus(...ranges: readonly Range[]): Range {
  const total = { min: 0, max: 0 };
  for (const range of ranges) {
    total.min = Math.min(total.min + range.min, COUNT_MAX);
    total.max = Math.min(total.max + range.max, COUNT_MAX);
  }
  return total;
}

export function times(a: Range, b: Range): Range {
  return { min: multiplyCounts(a.min, b.min), max: multiplyCounts(a.max, b.max) };
}

/** Multiplies by a factor and rounds up. */
export function scaled(range: Range, factor: number): Range {
  const scale = (count: number): number => Math.min(Math.ceil(count * factor), COUNT_MAX);
  return { min: scale(range.min), max: scale(range.max) };
}

/** Returns the range that covers both. */
export function covering(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

/** A part of an expression as estimates see it. */
export interface CostNode {
  /** Where in the data the value is; empty when it is computed. */
  readonly path: readonly string[];
  readonly type: CelType;
  readonly expr: Expr | undefined;
  readonly size: Range | undefined;
}

export interface CallEstimate {
  readonly cost: Range;
  /** The size of the result, when it is known. */
  readonly size?: Range | undefined;
}

export interface CallParts {
  readonly name: string;
  readonly overloadId: string;
  readonly target: CostNode | undefined;
  readonly args: readonly CostNode[];
  readonly argCosts: readonly Range[];
  readonly sizeOfPath: (path: readonly string[]) => Range | undefined;
}
