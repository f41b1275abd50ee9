import type { MetricSet } from '../../../shared/metrics/metric-set';
import type { WebhookMetrics } from '../../kubernetes/admission/webhooks/webhook-metrics';

/** Adds the calls of admission webhooks, under kube-apiserver's names, and the failing webhooks. */
export function addWebhookMetrics(metrics: MetricSet, webhooks: WebhookMetrics): void {
  metrics.histogram({
    name: 'apiserver_admission_webhook_admission_duration_seconds',
    help: 'The latency of a call to an admission webhook.',
    labels: ['name', 'type', 'operation', 'rejected'],
    *read() {
      for (const { labels, durations } of webhooks.durations()) yield [labels, durations];
    },
  });
  metrics.counter({
    name: 'apiserver_admission_webhook_rejection_count',
    help: 'Requests rejected by admission webhooks, by reason.',
    labels: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
    *read() {
      for (const { labels, times } of webhooks.rejections()) yield [labels, times];
    },
  });
  metrics.counter({
    name: 'apiserver_admission_webhook_fail_open_count',
    help: 'Requests that proceeded although the call to an admission webhook failed (fail open).',
    labels: ['name', 'type'],
    *read() {
      for (const { labels, times } of webhooks.ignoredFailures()) yield [labels, times];
    },
  });
  metrics.gauge({
    name: 'apiserver_admission_webhook_inflight_requests',
    help: 'Calls to an admission webhook that are executing or waiting in the queue of its bulkhead.',
    labels: ['name', 'configuration', 'type', 'state'],
    *read() {
      for (const { hook, calls, waiting } of webhooks.reports()) {
        const labels = { name: hook.name, configuration: hook.configuration, type: hook.type };
        yield [{ ...labels, state: 'executing' }, calls];
        yield [{ ...labels, state: 'waiting' }, waiting];
      }
    },
  });
  metrics.counter({
    name: 'apiserver_admission_webhook_call_failures_total',
    help: 'Calls to an admission webhook that failed, or were not made, by reason.',
    labels: ['name', 'configuration', 'type', 'reason'],
    *read() {
      for (const { hook, failures } of webhooks.reports()) {
        const labels = { name: hook.name, configuration: hook.configuration, type: hook.type };
        for (const [reason, times] of failures) yield [{ ...labels, reason }, times];
      }
    },
  });
  metrics.gauge({
    name: 'apiserver_admission_webhook_outage',
    help: '1 while the circuit breaker of an admission webhook is open: it is called for probes only, or for a short time if its failurePolicy is Ignore.',
    labels: ['name', 'configuration', 'type'],
    *read() {
      for (const { hook, outage } of webhooks.reports()) {
        const labels = { name: hook.name, configuration: hook.configuration, type: hook.type };
        yield [labels, outage === undefined ? 0 : 1];
      }
    },
  });
}
