import type { MetricSet } from '../../../shared/metrics/metric-set';
import type { TokenCacheCounts } from '../../engine/authn/token-cache-counts';
import type { TokenCounts } from '../../kubernetes/auth/service-account/token-counts';

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
] as const satisfies readonly {
  readonly count: Exclude<keyof TokenCounts, 'cache'>;
  readonly [field: string]: string;
}[];

/** Adds the uses of service account tokens, under kube-apiserver's names. */
export function addTokenMetrics(metrics: MetricSet, counts: Readonly<TokenCounts>): void {
  addCache(metrics, counts.cache);
  for (const { name, help, count } of METRICS) {
    metrics.counter({ name, help, read: () => [[{}, counts[count]]] });
  }
}

const OUTCOMES = ['hit', 'miss'] as const;

function addCache(metrics: MetricSet, counts: TokenCacheCounts): void {
  const { durations, fetches } = counts;
  metrics.gauge({
    name: 'authentication_token_cache_active_fetch_count',
    help: 'Tokens that are being verified, because nothing is remembered of them.',
    labels: ['status'],
    read: () => [[{ status: 'in_flight' }, counts.active]],
  });
  metrics.counter({
    name: 'authentication_token_cache_fetch_total',
    help: 'Tokens that were verified, because nothing was remembered of them, by outcome.',
    labels: ['status'],
    *read() {
      for (const [status, times] of Object.entries(fetches)) yield [{ status }, times];
    },
  });
  metrics.histogram({
    name: 'authentication_token_cache_request_duration_seconds',
    help: 'The latency of looking up a token, by whether something was remembered of it.',
    labels: ['status'],
    *read() {
      for (const status of OUTCOMES) yield [{ status }, durations[status]];
    },
  });
  metrics.counter({
    name: 'authentication_token_cache_request_total',
    help: 'Look-ups of tokens, by whether something was remembered of them.',
    labels: ['status'],
    *read() {
      for (const status of OUTCOMES) yield [{ status }, durations[status].count];
    },
  });
}
