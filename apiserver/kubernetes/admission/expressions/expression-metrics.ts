import { DurationHistogram } from '../../../../shared/metrics/duration-histogram';
import type { TakenDurations } from '../../../../shared/metrics/duration-histogram';
import type { Labels } from '../../../../shared/metrics/metric-set';
import type { Taken } from '../../../../shared/metrics/taken';
import { takeDurations, takeTimes } from '../../../../shared/metrics/taken';
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

export interface Timed {
  readonly labels: Labels;
  readonly durations: DurationHistogram;
}

export interface Counted {
  readonly labels: Labels;
  times: number;
}

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
  readonly conditionTimes = new Map<string, Timed>();
  readonly conditionErrors = new Map<string, Counted>();
  readonly exclusions = new Map<string, Counted>();
  /** Expressions of validating policies that failed, refused, warned or were noted. */
  readonly validations = new Map<string, Timed>();
  readonly mutations = new Map<string, Timed>();

  observeConditions(labels: ConditionLabels, ms: number): void {
    timed(this.conditionTimes, textsOf(labels), CONDITION_BOUNDS_SECONDS)?.observe(ms);
  }

  conditionFailed(labels: ConditionLabels): void {
    count(this.conditionErrors, textsOf(labels));
  }

  /** Counts a request that a webhook is not called for. */
  excluded(labels: ConditionLabels): void {
    count(this.exclusions, textsOf(labels));
  }

  observeCheck({ policy, binding, error, action }: Check, ms: number): void {
    const labels = { policy, policy_binding: binding, error_type: error };
    if (action === undefined) timed(this.mutations, labels, CHECK_BOUNDS_SECONDS)?.observe(ms);
    else
      timed(this.validations, { ...labels, enforcement_action: action }, CHECK_BOUNDS_SECONDS)?.observe(ms);
  }

  /** Returns and resets the counts since the last call. */
  take(): TakenExpressionCounts {
    return {
      conditionTimes: takeDurations(this.conditionTimes.values()),
      conditionErrors: takeTimes(this.conditionErrors.values()),
      exclusions: takeTimes(this.exclusions.values()),
      validations: takeDurations(this.validations.values()),
      mutations: takeDurations(this.mutations.values()),
    };
  }

  add({ conditionTimes, conditionErrors, exclusions, validations, mutations }: TakenExpressionCounts): void {
    for (const [labels, taken] of conditionTimes)
      timed(this.conditionTimes, labels, CONDITION_BOUNDS_SECONDS)?.add(taken);
    for (const [labels, times] of conditionErrors) count(this.conditionErrors, labels, times);
    for (const [labels, times] of exclusions) count(this.exclusions, labels, times);
    for (const [labels, taken] of validations)
      timed(this.validations, labels, CHECK_BOUNDS_SECONDS)?.add(taken);
    for (const [labels, taken] of mutations) timed(this.mutations, labels, CHECK_BOUNDS_SECONDS)?.add(taken);
  }
}

function textsOf({ name, kind, type, operation }: ConditionLabels): Labels {
  return { name, kind, type, operation };
}

function timed(
  series: Map<string, Timed>,
  labels: Labels,
  boundsSeconds: readonly number[],
): DurationHistogram | undefined {
  return seriesOf(series, labels, () => ({ labels, durations: new DurationHistogram(boundsSeconds) }))
    ?.durations;
}

function count(series: Map<string, Counted>, labels: Labels, more = 1): void {
  const counted = seriesOf(series, labels, () => ({ labels, times: 0 }));
  if (counted !== undefined) counted.times += more;
}

/** Returns undefined for a new series beyond the limit. */
function seriesOf<T>(series: Map<string, T>, labels: Labels, create: () => T): T | undefined {
  const key = Object.values(labels).join(' ');
  const known = series.get(key);
  if (known !== undefined || series.size >= SERIES_MAX) return known;
  const made = create();
  series.set(key, made);
  return made;
}
