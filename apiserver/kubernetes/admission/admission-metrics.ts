import type { AdmissionOperation } from '../../engine/registry/admission';
import type { TakenExpressionCounts } from './expressions/expression-metrics';
import { ExpressionMetrics } from './expressions/expression-metrics';
import type { TakenPodSecurity } from './pod-security/pod-security-metrics';
import { PodSecurityMetrics } from './pod-security/pod-security-metrics';
import type { TakenDurations } from '../../../shared/metrics/duration-histogram';
import { DurationHistogram } from '../../../shared/metrics/duration-histogram';
import type { Taken } from '../../../shared/metrics/taken';
import { takeDurations } from '../../../shared/metrics/taken';

export type Phase = 'admit' | 'validate';

/** One decision of a plugin or of a whole phase. */
export interface Decision {
  readonly type: Phase;
  readonly operation: AdmissionOperation;
  readonly rejected: boolean;
}

export interface DecisionSeries {
  /** `name`, `type`, `operation` and `rejected`; whole phases have no name. */
  readonly labels: Readonly<Record<string, string>>;
  readonly durations: DurationHistogram;
}

/** Counts one decision and its duration in milliseconds. */
export type ObserveDecision = (rejected: boolean, ms: number) => void;

type DecisionKind = Omit<Decision, 'rejected'>;

/** The bucket bounds of kube-apiserver, in seconds. */
const BOUNDS_SECONDS: readonly number[] = [0.005, 0.025, 0.1, 0.5, 2.5];

/**
 * Times admission. The number of series is bounded by plugins, phases and operations. Each write counts about a dozen decisions, so
 * callers resolve their series once.
 */
export class AdmissionMetrics {
  readonly #phases = new Map<string, DecisionSeries>();
  readonly #plugins = new Map<string, DecisionSeries>();
  /** Of match conditions and policies. */
  readonly expressions = new ExpressionMetrics();
  readonly podSecurity = new PodSecurityMetrics();

  ofPhase(kind: DecisionKind): ObserveDecision {
    return observerOf(this.#phases, kind);
  }

  ofPlugin(name: string, kind: DecisionKind): ObserveDecision {
    return observerOf(this.#plugins, { name, ...kind });
  }

  /** Returns and resets the counts since the last call. */
  take(): TakenAdmission {
    return {
      phases: takeDurations(this.#phases.values()),
      plugins: takeDurations(this.#plugins.values()),
      podSecurity: this.podSecurity.take(),
      ...this.expressions.take(),
    };
  }

  add({ phases, plugins, podSecurity, ...expressions }: TakenAdmission): void {
    this.podSecurity.add(podSecurity);
    this.expressions.add(expressions);
    for (const [labels, taken] of phases) durationsOf(this.#phases, labels).add(taken);
    for (const [labels, taken] of plugins) durationsOf(this.#plugins, labels).add(taken);
  }

  phases(): Iterable<DecisionSeries> {
    return this.#phases.values();
  }

  plugins(): Iterable<DecisionSeries> {
    return this.#plugins.values();
  }
}

/** The counts of another thread, as data. */
export interface TakenAdmission extends TakenExpressionCounts {
  readonly phases: Taken<TakenDurations>;
  readonly plugins: Taken<TakenDurations>;
  readonly podSecurity: TakenPodSecurity;
}

/** A series starts with its first decision. */
function observerOf(
  series: Map<string, DecisionSeries>,
  kind: DecisionKind & { readonly name?: string },
): ObserveDecision {
  let admitted: DurationHistogram | undefined;
  let refused: DurationHistogram | undefined;
  return (rejected, ms) => {
    if (rejected) (refused ??= durationsOf(series, { ...kind, rejected: 'true' })).observe(ms);
    else (admitted ??= durationsOf(series, { ...kind, rejected: 'false' })).observe(ms);
  };
}

function durationsOf(
  series: Map<string, DecisionSeries>,
  labels: Readonly<Record<string, string>>,
): DurationHistogram {
  const key = Object.values(labels).join(' ');
  const found = series.get(key) ?? { labels, durations: new DurationHistogram(BOUNDS_SECONDS) };
  series.set(key, found);
  return found.durations;
}
