import { Registry } from 'prom-client';
import { newTokenCounts } from '../../access/authentication/service-account/token-counts';
import { addTokenMetrics } from './add-token-metrics';

test('uses of tokens are shown as they are when somebody asks', async () => {
  const registry = new Registry();
  const counts = newTokenCounts();
  addTokenMetrics(registry, counts);
  expect(await registry.metrics()).toMatch(/^serviceaccount_legacy_tokens_total 0$/m);
  counts.legacy += 1;
  counts.stale += 2;
  counts.valid += 3;
  const text = await registry.metrics();
  expect(text).toMatch(/^serviceaccount_legacy_tokens_total 1$/m);
  expect(text).toMatch(/^serviceaccount_stale_tokens_total 2$/m);
  expect(text).toMatch(/^serviceaccount_valid_tokens_total 3$/m);
});
