import { AdmissionMetrics } from '../../kubernetes/admission/admission-metrics';
import { WebhookMetrics } from '../../kubernetes/admission/webhooks/webhook-metrics';
import { MetricSet } from '../../../shared/metrics/metric-set';
import { addRestClientMetrics, ClientRequests } from '../../../shared/metrics/rest-client';
import { addAdmissionMetrics } from '../metrics/add-admission-metrics';
import { addWebhookMetrics } from '../metrics/add-webhook-metrics';
import type { Measures } from './measured';
import { addMeasured, takeMeasured } from './measured';

const newMeasures = (): Measures => ({
  plugins: new AdmissionMetrics(),
  webhooks: new WebhookMetrics(),
  requests: new ClientRequests(),
});

async function shown({ plugins, webhooks, requests }: Measures): Promise<string> {
  const metrics = new MetricSet();
  addAdmissionMetrics(metrics, plugins);
  addWebhookMetrics(metrics, webhooks);
  addRestClientMetrics(metrics, requests);
  return String(await metrics.exposition());
}

/** Increments each of the counters. */
function count({ plugins, webhooks, requests }: Measures): void {
  plugins.ofPhase({ type: 'admit', operation: 'CREATE' })(false, 3);
  plugins.ofPlugin('Priority', { type: 'admit', operation: 'CREATE' })(true, 40);
  const hook = { name: 'a.example.com', type: 'validating', operation: 'UPDATE' } as const;
  webhooks.observe(hook, 30, { cause: 'no_error', code: 403 });
  webhooks.observe(hook, 700, undefined);
  webhooks.ignored(hook);
  requests.observerOf('https://a.ns.svc:8443')('POST', 200, 12);
}

test('counts transferred from one thread to another equal those of direct counting', async () => {
  const itself = newMeasures();
  const shows = newMeasures();
  const counts = newMeasures();
  for (let round = 0; round < 2; round += 1) {
    count(itself);
    count(itself);
    count(shows);
    count(counts);
    const measured = takeMeasured(counts);
    if (measured === undefined) throw new Error('nothing was counted');
    addMeasured(shows, structuredClone(measured));
    expect(takeMeasured(counts)).toBeUndefined();
  }
  expect(await shown(shows)).toBe(await shown(itself));
  expect(await shown(shows)).toContain('name="a.example.com",type="validating"} 4\n');
});

test('nothing is transferred if nothing was counted', () => {
  expect(takeMeasured(newMeasures())).toBeUndefined();
});
