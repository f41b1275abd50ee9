import type { ResourceQuota } from '../../shared/api/types/core-v1';
import type { Amounts } from '../../shared/quota/amounts';
import { parseAmounts } from '../../shared/quota/amounts';

/** What is asked for. */
export function hardOf({ spec }: ResourceQuota): Amounts {
  return parseAmounts(spec.hard);
}

/** What admission goes by: what is limited, and what is used of it. */
export function statusOf({ status }: ResourceQuota): { readonly hard: Amounts; readonly used: Amounts } {
  return { hard: parseAmounts(status?.hard), used: parseAmounts(status?.used) };
}
