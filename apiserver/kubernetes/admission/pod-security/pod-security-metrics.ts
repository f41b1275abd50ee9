import { apiLevel } from '../../../../shared/api-level';
import { LabelledCounts } from '../../../../shared/metrics/labelled-series';
import type { Taken } from '../../../../shared/metrics/taken';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import { NAMESPACES, PODS } from '../../cluster/resources';
import type { MODES, Standard } from './policy';
import { formatStandard } from './policy';

/** Bound of series per metric. Versions come from labels of namespaces, but later ones than the API level are one. */
const SERIES_MAX = 2_000;

/** The counts of another thread, as data. */
export interface TakenPodSecurity {
  readonly evaluations: Taken<number>;
  readonly exemptions: Taken<number>;
  readonly errors: Taken<number>;
}

/** What Pod Security counts, as `metrics/metrics.go` of k8s.io/pod-security-admission. */
export class PodSecurityMetrics {
  readonly evaluations = new LabelledCounts(SERIES_MAX);
  readonly exemptions = new LabelledCounts(SERIES_MAX);
  readonly errors = new LabelledCounts(SERIES_MAX);

  evaluated(attributes: AdmissionAttributes, { mode, standard, isDenied }: Evaluation): void {
    this.evaluations.count({
      decision: isDenied ? 'deny' : 'allow',
      policy_level: standard.level,
      policy_version: versionLabel(standard),
      mode,
      ...requestLabels(attributes),
    });
  }

  exempted(attributes: AdmissionAttributes): void {
    this.exemptions.count(requestLabels(attributes));
  }

  /** Counts an error that did not prevent the evaluation, such as wrong labels of a namespace. */
  failed(attributes: AdmissionAttributes): void {
    this.errors.count({ fatal: 'false', ...requestLabels(attributes) });
  }

  take(): TakenPodSecurity {
    return {
      evaluations: this.evaluations.take(),
      exemptions: this.exemptions.take(),
      errors: this.errors.take(),
    };
  }

  add({ evaluations, exemptions, errors }: TakenPodSecurity): void {
    this.evaluations.add(evaluations);
    this.exemptions.add(exemptions);
    this.errors.add(errors);
  }
}

interface Evaluation {
  readonly mode: (typeof MODES)[number];
  readonly standard: Standard;
  readonly isDenied: boolean;
}

function versionLabel({ level, version }: Standard): string {
  if (level === 'privileged' || version === 'latest') return 'latest';
  return version > apiLevel ? 'future' : formatStandard({ level, version }).slice(level.length + 1);
}

function requestLabels({
  operation,
  write: { endpoint, subresource },
}: AdmissionAttributes): Readonly<Record<'request_operation' | 'resource' | 'subresource', string>> {
  const { group, resource } = endpoint.row;
  const named = [PODS, NAMESPACES].find((each) => each.group === group && each.resource === resource);
  return {
    request_operation: operation.toLowerCase(),
    resource: named === PODS ? 'pod' : named === NAMESPACES ? 'namespace' : 'controller',
    subresource,
  };
}
