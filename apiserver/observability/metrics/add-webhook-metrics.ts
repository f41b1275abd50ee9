import type { Registry } from 'prom-client';
import type { WebhookMetrics } from '../../admission/webhooks/webhook-metrics';
import { addHistogram } from '../../../shared/metrics/bucket-histogram';
import { addCounter, addGauge } from './collected';

/** Shows what admission webhooks did, under kube-apiserver's names, and which of them do not answer. */
export function addWebhookMetrics(registry: Registry, webhooks: WebhookMetrics): void {
  addHistogram(
    registry,
    {
      name: 'apiserver_admission_webhook_admission_duration_seconds',
      help: 'The time one admission webhook took.',
      labels: ['name', 'type', 'operation', 'rejected'],
    },
    () => webhooks.durations(),
  );
  addCounter(registry, {
    name: 'apiserver_admission_webhook_rejection_count',
    help: 'Requests that failed because of an admission webhook, by the reason.',
    labels: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
    *read() {
      for (const { labels, times } of webhooks.rejections()) yield [labels, times];
    },
  });
  addCounter(registry, {
    name: 'apiserver_admission_webhook_fail_open_count',
    help: 'Requests that went on although an admission webhook could not be asked.',
    labels: ['name', 'type'],
    *read() {
      for (const { labels, times } of webhooks.ignoredFailures()) yield [labels, times];
    },
  });
  addGauge(registry, {
    name: 'apiserver_admission_webhook_inflight_requests',
    help: 'Calls of an admission webhook that are under way, or wait for their turn.',
    labels: ['name', 'configuration', 'type', 'state'],
    *read() {
      for (const { hook, calls, waiting } of webhooks.reports()) {
        const labels = { name: hook.name, configuration: hook.configuration, type: hook.type };
        yield [{ ...labels, state: 'executing' }, calls];
        yield [{ ...labels, state: 'waiting' }, waiting];
      }
    },
  });
  addGauge(registry, {
    name: 'apiserver_admission_webhook_outage',
    help: 'Whether an admission webhook does not answer, so that it is not asked but for a try now and then.',
    labels: ['name', 'configuration', 'type'],
    *read() {
      for (const { hook, outage } of webhooks.reports()) {
        const labels = { name: hook.name, configuration: hook.configuration, type: hook.type };
        yield [labels, outage === undefined ? 0 : 1];
      }
    },
  });
}
