import type { ApiObject } from '../object/object';
import type { Amounts } from './amounts';
import type { ClaimScopes, PodScopes } from './scopes';

/** What quotas need to know of one object, so that the object itself need not be kept. */
export interface Measured {
  readonly usage: Amounts;
  /** The usage from a later moment on, although the object still exists. */
  readonly later?: { readonly fromMs: number; readonly usage: Amounts };
  /** Properties for quota scopes; only pods and claims have them. */
  readonly scopes?: PodScopes | ClaimScopes;
}

/** Computes how objects of one resource count for quotas. */
export interface Evaluator<T extends ApiObject = ApiObject> {
  readonly group: string;
  readonly resource: string;
  /** True when an update can change the usage. A creation always does. */
  readonly chargesUpdates: boolean;
  /** True when objects are only counted. */
  readonly countsOnly: boolean;
  /** True for a resource of a quota that it measures. */
  readonly measures: (name: string) => boolean;
  readonly measure: (object: T) => Measured;
  /** Returns the resources of a quota that the object must specify and does not, sorted by name. */
  readonly missing: (names: readonly string[], object: T) => readonly string[];
}

/** Returns the usage at a moment, in milliseconds since the epoch. */
export function computeUsageAt({ usage, later }: Measured, nowMs: number): Amounts {
  return later !== undefined && nowMs > later.fromMs ? later.usage : usage;
}
