import type { Registry } from 'prom-client';
import type { AdmissionMetrics } from '../../admission/admission-metrics';
import { addHistogram } from '../../../shared/metrics/bucket-histogram';

const LABELS = ['type', 'operation', 'rejected'] as const;

/** Shows how long admission took, under kube-apiserver's names. A plugin is timed where it has to do with the request. */
export function addAdmissionMetrics(registry: Registry, admission: AdmissionMetrics): void {
  addHistogram(
    registry,
    {
      name: 'apiserver_admission_step_admission_duration_seconds',
      help: 'The latency of an admission phase.',
      labels: LABELS,
    },
    () => admission.phases(),
  );
  addHistogram(
    registry,
    {
      name: 'apiserver_admission_controller_admission_duration_seconds',
      help: 'The latency of an admission plugin.',
      labels: ['name', ...LABELS],
    },
    () => admission.plugins(),
  );
}
