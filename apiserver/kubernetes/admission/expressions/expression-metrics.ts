import type { TakenDurations } from '../../../../shared/metrics/duration-histogram';
import { LabelledCounts, LabelledDurations } from '../../../../shared/metrics/labelled-series';
import type { Labels } from '../../../../shared/metrics/metric-set';
import type { Taken } from '../../../../shared/metrics/taken';
import type { AdmissionOperation } from '../../../engine/registry/admission';

export interface ConditionLabels {
  /** The webhook or policy. */
  readonly name: string;
  readonly kind: 'webhook' | 'policy';
  readonly type: 'admit' | 'validate' | 'validating';
  readonly operation: AdmissionOperation;
}

/** Why the check of an expression failed (k8s.io/apiserver `policy/validating/metrics`). */
export type CheckError = 'compile_error' | 'invalid_error' | 'out_of_budget' | 'no_error';

export interface Check {
  readonly policy: string;
  readonly binding: string;
  readonly error: CheckError;
  /** What a validating policy did; mutating policies have no such label. */
  readonly action?: 'allow' | 'deny' | 'audit' | 'warn';
}

/** The bucket bounds of kube-apiserver, in seconds. */
const CONDITION_BOUNDS_SECONDS: readonly number[] = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
const CHECK_BOUNDS_SECONDS: readonly number[] = [0.000_000_5, 0.001, 0.01, 0.1, 1];
/** Bound of series per metric: names come from policies. */
const SERIES_MAX = 1_000;

/** The counts of another thread, as data. */
export interface TakenExpressionCounts {
  readonly conditionTimes: Taken<TakenDurations>;
  readonly conditionErrors: Taken<number>;
  readonly exclusions: Taken<number>;
  readonly validations: Taken<TakenDurations>;
  readonly mutations: Taken<TakenDurations>;
}

/** Counts evaluations of match conditions and policies. */
export class ExpressionMetrics {
  readonly conditionTimes = new LabelledDurations(CONDITION_BOUNDS_SECONDS, SERIES_MAX);
  readonly conditionErrors = new LabelledCounts(SERIES_MAX);
  readonly exclusions = new LabelledCounts(SERIES_MAX);
  /** Expressions of validating policies that failed, refused, warned or were noted. */
  readonly validations = new LabelledDurations(CHECK_BOUNDS_SECONDS, SERIES_MAX);
  readonly mutations = new LabelledDurations(CHECK_BOUNDS_SECONDS, SERIES_MAX);

  observeConditions(labels: ConditionLabels, ms: number): void {
    this.conditionTimes.observe(textsOf(labels), ms);
  }

  conditionFailed(labels: ConditionLabels): void {
    this.conditionErrors.count(textsOf(labels));
  }

  /** Counts a request that a webhook is not called for. */
  excluded(labels: ConditionLabels): void {
    this.exclusions.count(textsOf(labels));
  }

  observeCheck({ policy, binding, error, action }: Check, ms: number): void {
    const labels = { policy, policy_binding: binding, error_type: error };
    if (action === undefined) this.mutations.observe(labels, ms);
    else this.validations.observe({ ...labels, enforcement_action: action }, ms);
  }

  /** Returns and resets the counts since the last call. */
  take(): TakenExpressionCounts {
    return {
      conditionTimes: this.conditionTimes.take(),
      conditionErrors: this.conditionErrors.take(),
      exclusions: this.exclusions.take(),
      validations: this.validations.take(),
      mutations: this.mutations.take(),
    };
  }

  add({ conditionTimes, conditionErrors, exclusions, validations, mutations }: TakenExpressionCounts): void {
    this.conditionTimes.add(conditionTimes);
    this.conditionErrors.add(conditionErrors);
    this.exclusions.add(exclusions);
    this.validations.add(validations);
    this.mutations.add(mutations);
  }
}

function textsOf({ name, kind, type, operation }: ConditionLabels): Labels {
  return { name, kind, type, operation };
}
