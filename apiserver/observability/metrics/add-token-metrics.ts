import type { Registry } from 'prom-client';
import type { TokenCounts } from '../../access/authentication/service-account/token-counts';
import { addCounter } from './collected';

const METRICS = [
  {
    name: 'serviceaccount_legacy_tokens_total',
    help: 'Uses of legacy service account tokens from Secrets, which do not expire.',
    count: 'legacy',
  },
  {
    name: 'serviceaccount_stale_tokens_total',
    help: 'Uses of stale service account tokens: after the time at which they should have been renewed.',
    count: 'stale',
  },
  {
    name: 'serviceaccount_valid_tokens_total',
    help: 'Uses of valid service account tokens: before the time at which they should be renewed.',
    count: 'valid',
  },
] as const satisfies readonly { readonly count: keyof TokenCounts; readonly [field: string]: string }[];

/** Shows how tokens of service accounts are used, under kube-apiserver's names. */
export function addTokenMetrics(registry: Registry, counts: Readonly<TokenCounts>): void {
  for (const { name, help, count } of METRICS) {
    addCounter(registry, { name, help, read: () => [[{}, counts[count]]] });
  }
}
