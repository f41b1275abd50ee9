import type { Registry } from 'prom-client';
import type { TokenCounts } from '../../access/authentication/service-account/token-counts';
import { addCounter } from './collected';

const METRICS = [
  {
    name: 'serviceaccount_legacy_tokens_total',
    help: 'Uses of service account tokens from Secrets, which have no end.',
    count: 'legacy',
  },
  {
    name: 'serviceaccount_stale_tokens_total',
    help: 'Uses of pod tokens after the time they should have been renewed.',
    count: 'stale',
  },
  {
    name: 'serviceaccount_valid_tokens_total',
    help: 'Uses of pod tokens before the time they should be renewed.',
    count: 'valid',
  },
] as const satisfies readonly { readonly count: keyof TokenCounts; readonly [field: string]: string }[];

/** Shows how tokens of service accounts are used, under kube-apiserver's names. */
export function addTokenMetrics(registry: Registry, counts: Readonly<TokenCounts>): void {
  for (const { name, help, count } of METRICS) {
    addCounter(registry, { name, help, read: () => [[{}, counts[count]]] });
  }
}
