import type { AdmissionMetrics, TakenAdmission } from '../../kubernetes/admission/admission-metrics';
import type { TakenWebhookCounts, WebhookMetrics } from '../../kubernetes/admission/webhooks/webhook-metrics';
import type { ClientRequests, TakenRequests } from '../../../shared/metrics/rest-client';

/** The metrics of plugins, webhooks and clients of other servers. */
export interface Measures {
  readonly plugins: AdmissionMetrics;
  readonly webhooks: WebhookMetrics;
  readonly requests: ClientRequests;
}

/** The metrics sources of a server. */
export interface CountedPlane {
  readonly admissionMetrics: AdmissionMetrics;
  readonly webhookMetrics: WebhookMetrics;
  readonly requests: ClientRequests;
}

/** Returns the counters of a server. */
export function measuresOf(plane: CountedPlane): Measures {
  return { plugins: plane.admissionMetrics, webhooks: plane.webhookMetrics, requests: plane.requests };
}

/** The counts of a thread, transferred to the thread that reports them. */
export interface Measured {
  readonly plugins: TakenAdmission;
  readonly webhooks: TakenWebhookCounts;
  readonly requests: TakenRequests;
}

/** Returns the counts since the last call; undefined if there are none. */
export function takeMeasured({ plugins, webhooks, requests }: Measures): Measured | undefined {
  const measured = { plugins: plugins.take(), webhooks: webhooks.take(), requests: requests.take() };
  return isEmpty(measured) ? undefined : measured;
}

/** Counts are lists, in objects that may be nested. */
function isEmpty(counts: object): boolean {
  return Array.isArray(counts) ? counts.length === 0 : Object.values(counts).every(isEmpty);
}

export function addMeasured(measures: Measures, { plugins, webhooks, requests }: Measured): void {
  measures.plugins.add(plugins);
  measures.webhooks.add(webhooks);
  measures.requests.add(requests);
}
