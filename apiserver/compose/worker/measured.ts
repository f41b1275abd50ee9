import type { AdmissionMetrics, TakenAdmission } from '../../kubernetes/admission/admission-metrics';
import type { TakenWebhookCounts, WebhookMetrics } from '../../kubernetes/admission/webhooks/webhook-metrics';
import type { ClientRequests, TakenRequests } from '../../../shared/metrics/rest-client';

/** Where plugins, webhooks and clients of other servers are counted. */
export interface Measures {
  readonly plugins: AdmissionMetrics;
  readonly webhooks: WebhookMetrics;
  readonly requests: ClientRequests;
}

/** A server, as far as it counts. */
export interface CountedPlane {
  readonly admissionMetrics: AdmissionMetrics;
  readonly webhookMetrics: WebhookMetrics;
  readonly requests: ClientRequests;
}

/** Returns the counters of a server. */
export function measuresOf(plane: CountedPlane): Measures {
  return { plugins: plane.admissionMetrics, webhooks: plane.webhookMetrics, requests: plane.requests };
}

/** What a thread has counted, on its way to the thread that shows it. */
export interface Measured {
  readonly plugins: TakenAdmission;
  readonly webhooks: TakenWebhookCounts;
  readonly requests: TakenRequests;
}

/** What was counted since this was called last; undefined for nothing. */
export function takeMeasured({ plugins, webhooks, requests }: Measures): Measured | undefined {
  const measured = { plugins: plugins.take(), webhooks: webhooks.take(), requests: requests.take() };
  const isEmpty = Object.values(measured).every((part: object) =>
    Object.values(part).every((taken: readonly unknown[]) => taken.length === 0),
  );
  return isEmpty ? undefined : measured;
}

export function addMeasured(measures: Measures, { plugins, webhooks, requests }: Measured): void {
  measures.plugins.add(plugins);
  measures.webhooks.add(webhooks);
  measures.requests.add(requests);
}
