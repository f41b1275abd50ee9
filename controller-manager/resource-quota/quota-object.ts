import type { ResourceQuota } from '../../shared/api/types/core-v1';
import type { Amounts } from '../../shared/quota/amounts';
import { parseAmounts } from '../../shared/quota/amounts';

/** Returns the limits of the spec. */
export function hardOf({ spec }: ResourceQuota): Amounts {
  return parseAmounts(spec.hard);
}

/** Returns what admission uses: the limits and the usage. */
export function statusOf({ status }: ResourceQuota): { readonly hard: Amounts; readonly used: Amounts } {
  return { hard: parseAmounts(status?.hard), used: parseAmounts(status?.used) };
}
