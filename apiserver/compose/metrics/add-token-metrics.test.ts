import { MetricSet } from '../../../shared/metrics/metric-set';
import { newTokenCounts } from '../../kubernetes/auth/service-account/token-counts';
import { addTokenMetrics } from './add-token-metrics';

test('uses of tokens are current at each scrape', async () => {
  const metrics = new MetricSet();
  const counts = newTokenCounts();
  addTokenMetrics(metrics, counts);
  expect(String(await metrics.exposition())).toMatch(/^serviceaccount_legacy_tokens_total 0$/m);
  counts.legacy += 1;
  counts.stale += 2;
  counts.valid += 3;
  const text = String(await metrics.exposition());
  expect(text).toMatch(/^serviceaccount_legacy_tokens_total 1$/m);
  expect(text).toMatch(/^serviceaccount_stale_tokens_total 2$/m);
  expect(text).toMatch(/^serviceaccount_valid_tokens_total 3$/m);
});
