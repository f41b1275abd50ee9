import { isInForce } from '../../../shared/api/changes';
import type { MetricSet } from '../../../shared/metrics/metric-set';
import type { AdmissionMetrics } from '../../kubernetes/admission/admission-metrics';
import type { PodSecurityMetrics } from '../../kubernetes/admission/pod-security/pod-security-metrics';
import type { ExpressionMetrics } from '../../kubernetes/admission/expressions/expression-metrics';

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
  if (isInForce('podSecurity')) addPodSecurityMetrics(metrics, admission.podSecurity);
  if (isInForce('admissionExpressions')) addExpressionMetrics(metrics, admission.expressions);
}

const REQUEST_LABELS = ['request_operation', 'resource', 'subresource'] as const;

function addPodSecurityMetrics(
  metrics: MetricSet,
  { evaluations, exemptions, errors }: PodSecurityMetrics,
): void {
  metrics.counter({
    name: 'pod_security_evaluations_total',
    help: 'Evaluations of Pod Security Standards: all of enforced ones, and those of audits and warnings that found violations.',
    labels: ['decision', 'policy_level', 'policy_version', 'mode', ...REQUEST_LABELS],
    *read() {
      for (const { labels, times } of evaluations.values()) yield [labels, times];
    },
  });
  metrics.counter({
    name: 'pod_security_exemptions_total',
    help: 'Requests that are exempt from Pod Security.',
    labels: REQUEST_LABELS,
    *read() {
      for (const { labels, times } of exemptions.values()) yield [labels, times];
    },
  });
  metrics.counter({
    name: 'pod_security_errors_total',
    help: 'Errors that prevent the normal evaluation of Pod Security Standards, such as wrong labels of a namespace.',
    labels: ['fatal', ...REQUEST_LABELS],
    *read() {
      for (const { labels, times } of errors.values()) yield [labels, times];
    },
  });
}

const CONDITION_LABELS = ['name', 'kind', 'type', 'operation'] as const;

function addExpressionMetrics(metrics: MetricSet, expressions: ExpressionMetrics): void {
  metrics.histogram({
    name: 'apiserver_admission_match_condition_evaluation_seconds',
    help: 'The time to evaluate the match conditions of a webhook or a policy.',
    labels: CONDITION_LABELS,
    *read() {
      for (const { labels, durations } of expressions.conditionTimes.values()) yield [labels, durations];
    },
  });
  metrics.counter({
    name: 'apiserver_admission_match_condition_evaluation_errors_total',
    help: 'Match conditions that could not be evaluated.',
    labels: CONDITION_LABELS,
    *read() {
      for (const { labels, times } of expressions.conditionErrors.values()) yield [labels, times];
    },
  });
  metrics.counter({
    name: 'apiserver_admission_match_condition_exclusions_total',
    help: 'Requests that a webhook was not called for because of its match conditions.',
    labels: CONDITION_LABELS,
    *read() {
      for (const { labels, times } of expressions.exclusions.values()) yield [labels, times];
    },
  });
  const checks = [
    ['validating', expressions.validations, [...CHECK_LABELS, 'enforcement_action']],
    ['mutating', expressions.mutations, CHECK_LABELS],
  ] as const;
  for (const [type, series, names] of checks) {
    metrics.counter({
      name: `apiserver_${type}_admission_policy_check_total`,
      help: `Expressions of ${type} admission policies that were evaluated, by policy, binding and result.`,
      labels: names,
      *read() {
        for (const { labels, durations } of series.values()) yield [labels, durations.count];
      },
    });
    metrics.histogram({
      name: `apiserver_${type}_admission_policy_check_duration_seconds`,
      help: `The time to evaluate an expression of a ${type} admission policy.`,
      labels: names,
      *read() {
        for (const { labels, durations } of series.values()) yield [labels, durations];
      },
    });
  }
}

const CHECK_LABELS = ['policy', 'policy_binding', 'error_type'] as const;
