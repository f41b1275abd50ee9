import type { ResourceQuota } from '../../shared/api/types/core-v1';
import type { Quantity } from '../../shared/meta/quantity';
import { addQuantity } from '../../shared/meta/quantity';
import type { Amounts } from '../../shared/quota/amounts';
import { areEqual, isMore, pickAmounts } from '../../shared/quota/amounts';
import { hardOf, statusOf } from './quota-object';

/** What is known about the usage of a quota. */
export interface Findings {
  /** Usage of the existing objects. An unknown resource is missing. */
  readonly counted: Amounts;
  /** Recent charges of admission, whose objects may not have been seen yet. */
  readonly recent: Amounts;
}

export interface NextStatus {
  readonly hard: Amounts;
  readonly used: Amounts;
  readonly isChanged: boolean;
  /** Whether the usage equals the count; otherwise it must be checked again. */
  readonly isSettled: boolean;
}

/**
 * Computes the status. A charge may belong to an object that is just being stored, so it is released only when that object would have
 * been seen: a quota is never exceeded.
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
