import type { ResourceQuota } from '../../shared/api/types/core-v1';
import type { Quantity } from '../../shared/meta/quantity';
import { addQuantity } from '../../shared/meta/quantity';
import type { Amounts } from '../../shared/quota/amounts';
import { areEqual, isMore, pickAmounts } from '../../shared/quota/amounts';
import { hardOf, statusOf } from './quota-object';

/** What is known about the use of a quota. */
export interface Findings {
  /** What the objects use that are there. A resource of which nothing is known is missing. */
  readonly counted: Amounts;
  /** What admission charged a moment ago: the objects may not have been seen yet. */
  readonly recent: Amounts;
}

export interface NextStatus {
  readonly hard: Amounts;
  readonly used: Amounts;
  readonly isChanged: boolean;
  /** Whether what is used is what was counted; else it must be looked at again. */
  readonly isSettled: boolean;
}

/**
 * What the status should say. What admission charged may be for an object that is just being stored: nothing of that is given back before
 * it is certain that the object would have been seen, so that a quota is never exceeded.
 */
export function nextStatus(quota: ResourceQuota, { counted, recent }: Findings): NextStatus {
  const hard = hardOf(quota);
  const status = statusOf(quota);
  const used = new Map<string, Quantity>();
  for (const name of hard.keys()) {
    const amount = nextUsed(status.used.get(name), counted.get(name), recent.get(name));
    if (amount !== undefined) used.set(name, amount);
  }
  return {
    hard,
    used,
    isChanged: !areEqual(hard, status.hard) || !areEqual(used, status.used),
    isSettled: areEqual(pickAmounts(used, counted.keys()), pickAmounts(counted, hard.keys())),
  };
}

function nextUsed(
  before: Quantity | undefined,
  counted: Quantity | undefined,
  recent: Quantity | undefined,
): Quantity | undefined {
  if (counted === undefined || before === undefined) return counted ?? before;
  if (isMore(counted, before)) return counted;
  const atMost = recent === undefined ? counted : addQuantity(counted, recent);
  return isMore(before, atMost) ? atMost : before;
}
