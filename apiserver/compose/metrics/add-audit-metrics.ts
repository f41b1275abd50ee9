import type { MetricSet } from '../../../shared/metrics/metric-set';
import type { AuditCounts } from '../../engine/audit/counts';

/** Adds the counts of audit events, under kube-apiserver's names. */
export function addAuditMetrics(metrics: MetricSet, counts: AuditCounts): void {
  metrics.counter({
    name: 'apiserver_audit_event_total',
    help: 'Audit events generated and sent to the audit backends.',
    read: () => [[{}, counts.events]],
  });
  metrics.counter({
    name: 'apiserver_audit_error_total',
    help: 'Audit events lost, by audit plugin.',
    labels: ['plugin'],
    *read() {
      for (const [plugin, events] of counts.errors) yield [{ plugin }, events];
    },
  });
  metrics.counter({
    name: 'apiserver_audit_level_total',
    help: 'Requests by the level of the audit policy that applies to them.',
    labels: ['level'],
    *read() {
      for (const [level, requests] of counts.levels) yield [{ level }, requests];
    },
  });
  metrics.counter({
    name: 'apiserver_audit_requests_rejected_total',
    help: 'Requests rejected because their audit event could not be written.',
    read: () => [[{}, counts.rejectedRequests]],
  });
}
