import type { MetricSet } from '../../../shared/metrics/metric-set';
import type { AdmissionMetrics } from '../../kubernetes/admission/admission-metrics';

const LABELS = ['type', 'operation', 'rejected'] as const;

/** Adds the durations of admission, under kube-apiserver's names. A plugin is timed only for requests that it handles. */
export function addAdmissionMetrics(metrics: MetricSet, admission: AdmissionMetrics): void {
  metrics.histogram({
    name: 'apiserver_admission_step_admission_duration_seconds',
    help: 'The latency of an admission phase.',
    labels: LABELS,
    *read() {
      for (const { labels, durations } of admission.phases()) yield [labels, durations];
    },
  });
  metrics.histogram({
    name: 'apiserver_admission_controller_admission_duration_seconds',
    help: 'The latency of an admission plugin.',
    labels: ['name', ...LABELS],
    *read() {
      for (const { labels, durations } of admission.plugins()) yield [labels, durations];
    },
  });
}
