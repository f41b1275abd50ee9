import type { ApiObject } from '../../shared/object/object';
import { GROUP } from '../../shared/names';
import type { Amounts } from '../../shared/quota/amounts';
import { amountsOf } from '../../shared/quota/amounts';
import { record } from '../../shared/object/accessors';

export const RESOURCE_QUOTAS = { group: GROUP.core, version: 'v1', resource: 'resourcequotas' } as const;

/** What is asked for. */
export function hardOf(quota: ApiObject): Amounts {
  return amountsOf(record(quota['spec'])['hard']);
}

/** What admission goes by: what is limited, and what is used of it. */
export function statusOf(quota: ApiObject): { readonly hard: Amounts; readonly used: Amounts } {
  const { hard, used } = record(quota['status']);
  return { hard: amountsOf(hard), used: amountsOf(used) };
}
