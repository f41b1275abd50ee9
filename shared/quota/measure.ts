import type { ApiObject } from '../object/object';
import type { Amounts } from './amounts';
import type { PodScopes } from './scopes';

/** What one object means to quotas. It says all that they ask about the object, which itself need not be kept. */
export interface Measured {
  readonly usage: Amounts;
  /** From this moment on the object uses less, though it is still there. */
  readonly later?: { readonly fromMs: number; readonly usage: Amounts };
  /** What scopes ask about; only pods have any. */
  readonly scopes?: PodScopes;
}

/** How the objects of one resource are counted. They are decoded. */
export interface Evaluator<T extends ApiObject = ApiObject> {
  readonly group: string;
  readonly resource: string;
  /** Whether an update can change what an object uses. A creation always does. */
  readonly chargesUpdates: boolean;
  /** Whether an object is counted without a look at it. */
  readonly countsOnly: boolean;
  /** Which of these resources of a quota it measures. */
  readonly measures: (name: string) => boolean;
  readonly measure: (object: T) => Measured;
  /** Which of these resources of a quota an object has to speak of and does not, in the order of their names. */
  readonly missing: (names: readonly string[], object: T) => readonly string[];
}

/** What the object uses at this moment, in milliseconds since the epoch. */
export function usageAt({ usage, later }: Measured, nowMs: number): Amounts {
  return later !== undefined && nowMs > later.fromMs ? later.usage : usage;
}
