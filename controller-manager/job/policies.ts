import type {
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyRule,
  Job,
  SuccessPolicyRule,
} from '../../shared/api/types/batch-v1';
import type { ContainerStatus, Pod } from '../../shared/api/types/core-v1';
import { isBeingDeleted } from '../runtime/owner';
import { IndexSet } from './indexes';

/** What the failure policy of a Job says about a failed pod. */
export interface FailureDecision {
  /** Whether the failure counts towards the backoff limits. */
  readonly counts: boolean;
  readonly action?: string;
  /** Why the whole Job fails, if it does. */
  readonly failsJob?: string;
}

/** Reports whether only pods that have failed are replaced, not those that are still terminating. */
export function replacesOnlyFailed({ spec }: Job): boolean {
  return spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined;
}

/** Reports whether the pod counts as failed: a pod that is deleted never gets that far by itself. */
export function hasFailed(pod: Pod, job: Job): boolean {
  if (pod.status?.phase === 'Failed') return true;
  return !replacesOnlyFailed(job) && isBeingDeleted(pod) && pod.status?.phase !== 'Succeeded';
}

/** Finds the first rule that matches the failed pod (upstream `matchPodFailurePolicy`). */
export function decideFailure({ spec }: Job, pod: Pod): FailureDecision {
  for (const [index, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const cause = causeOf(rule, pod);
    if (cause === undefined) continue;
    const { action } = rule;
    if (action === 'Ignore') return { counts: false, action };
    if (action !== 'FailJob') return { counts: true, action };
    const failsJob = `${cause} matching ${action} rule at index ${String(index)}`;
    return { counts: true, action, failsJob };
  }
  return { counts: true };
}

function causeOf({ onExitCodes, onPodConditions }: PodFailurePolicyRule, pod: Pod): string | undefined {
  const { namespace = '', name = '' } = pod.metadata;
  const { status } = pod;
  if (onExitCodes !== undefined) {
    const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
    const found = statuses.find((each) => matchesExitCode(each, onExitCodes));
    if (found === undefined) return undefined;
    return `Container ${found.name} for pod ${namespace}/${name} failed with exit code ${String(found.state?.terminated?.exitCode)}`;
  }
  const condition = status?.conditions?.find((each) =>
    onPodConditions?.some((pattern) => pattern.type === each.type && pattern.status === each.status),
  );
  return condition && `Pod ${namespace}/${name} has condition ${condition.type}`;
}

function matchesExitCode(
  { name, state }: ContainerStatus,
  { containerName = name, operator, values }: PodFailurePolicyOnExitCodesRequirement,
): boolean {
  const code = state?.terminated?.exitCode;
  if (code === undefined || code === 0 || containerName !== name) return false;
  const isListed = values?.includes(code) ?? false;
  return operator === 'In' ? isListed : operator === 'NotIn' && !isListed;
}

/** Returns the message of the rule by which the Job has succeeded; undefined if none holds (upstream `matchSuccessPolicy`). */
export function metSuccessRule({ spec }: Job, succeeded: IndexSet): string | undefined {
  if (succeeded.size === 0) return undefined;
  const { successPolicy, completions = 0 } = spec;
  const index = successPolicy?.rules?.findIndex((rule) => isMet(rule, succeeded, completions)) ?? -1;
  return index < 0 ? undefined : `Matched rules at index ${String(index)}`;
}

function isMet(
  { succeededIndexes, succeededCount = Infinity }: SuccessPolicyRule,
  succeeded: IndexSet,
  completions: number,
): boolean {
  if (succeededIndexes === undefined) return succeeded.size >= succeededCount;
  const required = IndexSet.parse(succeededIndexes, completions);
  const count = succeeded.overlap(required);
  return required.size > 0 && (count === required.size || count >= succeededCount);
}
