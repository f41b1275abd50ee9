import type { ResourceQuota } from '../../shared/api/types/core-v1';
import type { Quantity } from '../../shared/meta/quantity';
import { ZERO_QUANTITY, addQuantity } from '../../shared/meta/quantity';
import type { Amounts } from '../../shared/quota/amounts';
import { computeUsageAt } from '../../shared/quota/measure';
import { matchesScope, getScopes } from '../../shared/quota/scopes';
import type { Countable, CountedObject } from './counted-objects';
import { hardOf } from './quota-object';

export interface Tally {
  /** Usage of the objects for each measured resource of the quota. */
  readonly counted: Amounts;
  /** When an object's usage falls without an event, in milliseconds since the epoch; undefined if never. */
  readonly nextChangeMs: number | undefined;
}

/** Sums the usage of the objects of the quota's namespace within its scopes. */
export function tally(
  quota: ResourceQuota,
  groups: readonly {
    readonly countable: Pick<Countable, 'evaluator'>;
    readonly objects: readonly CountedObject[];
  }[],
  nowMs: number,
): Tally {
  const names = [...hardOf(quota).keys()];
  const scopes = getScopes(quota);
  const counted = new Map<string, Quantity>();
  let nextChangeMs: number | undefined;
  for (const { countable, objects } of groups) {
    const own = names.filter((name) => countable.evaluator.measures(name));
    for (const name of own) counted.set(name, counted.get(name) ?? ZERO_QUANTITY);
    for (const { measured } of objects) {
      if (!scopes.every((scope) => matchesScope(scope, measured.scopes))) continue;
      const usage = computeUsageAt(measured, nowMs);
      for (const name of own) addTo(counted, name, usage.get(name));
      const laterMs = measured.later?.fromMs ?? 0;
      if (laterMs >= nowMs) nextChangeMs = Math.min(nextChangeMs ?? laterMs, laterMs);
    }
  }
  return { counted, nextChangeMs };
}

function addTo(sums: Map<string, Quantity>, name: string, amount: Quantity | undefined): void {
  if (amount !== undefined) sums.set(name, addQuantity(sums.get(name) ?? ZERO_QUANTITY, amount));
}
