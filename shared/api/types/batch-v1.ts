// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Int64, Time } from '../../object/values';
import type { ObjectReference, PodTemplateSpec } from './core-v1';
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1';

/** Makes Jobs at the times of a schedule. */
export type CronJob = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: CronJobSpec;
  readonly status?: CronJobStatus;
};

/** A list of objects of the kind CronJob. */
export type CronJobList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly CronJob[] | null;
};

export type CronJobSpec = {
  readonly schedule: string;
  readonly timeZone?: string;
  readonly startingDeadlineSeconds?: Int64;
  readonly concurrencyPolicy?: string;
  readonly suspend?: boolean;
  readonly jobTemplate: JobTemplateSpec;
  readonly successfulJobsHistoryLimit?: number;
  readonly failedJobsHistoryLimit?: number;
};

export type CronJobStatus = {
  readonly active?: readonly ObjectReference[];
  readonly lastScheduleTime?: Time;
  readonly lastSuccessfulTime?: Time;
};

/** Runs pods until enough of them have succeeded. */
export type Job = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: JobSpec;
  readonly status?: JobStatus;
};

export type JobCondition = {
  readonly type: string;
  readonly status: string;
  readonly lastProbeTime: Time | null;
  readonly lastTransitionTime: Time | null;
  readonly reason?: string;
  readonly message?: string;
};

/** A list of objects of the kind Job. */
export type JobList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly Job[] | null;
};

export type JobSpec = {
  readonly parallelism?: number;
  readonly completions?: number;
  readonly activeDeadlineSeconds?: Int64;
  readonly podFailurePolicy?: PodFailurePolicy;
  readonly successPolicy?: SuccessPolicy;
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly selector?: LabelSelector;
  readonly manualSelector?: boolean;
  readonly template: PodTemplateSpec;
  readonly ttlSecondsAfterFinished?: number;
  readonly completionMode?: string;
  readonly suspend?: boolean;
  readonly podReplacementPolicy?: string;
  readonly managedBy?: string;
};

export type JobStatus = {
  readonly conditions?: readonly JobCondition[];
  readonly startTime?: Time;
  readonly completionTime?: Time;
  readonly active?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly terminating?: number;
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
  readonly uncountedTerminatedPods?: UncountedTerminatedPods;
  readonly ready?: number;
};

export type JobTemplateSpec = {
  readonly metadata: ObjectMeta;
  readonly spec: JobSpec;
};

export type PodFailurePolicy = {
  readonly rules: readonly PodFailurePolicyRule[] | null;
};

export type PodFailurePolicyOnExitCodesRequirement = {
  readonly containerName?: string;
  readonly operator: string;
  readonly values: readonly number[] | null;
};

export type PodFailurePolicyOnPodConditionsPattern = {
  readonly type: string;
  readonly status: string;
};

export type PodFailurePolicyRule = {
  readonly action: string;
  readonly onExitCodes?: PodFailurePolicyOnExitCodesRequirement;
  readonly onPodConditions?: readonly PodFailurePolicyOnPodConditionsPattern[];
};

export type SuccessPolicy = {
  readonly rules: readonly SuccessPolicyRule[] | null;
};

export type SuccessPolicyRule = {
  readonly succeededIndexes?: string;
  readonly succeededCount?: number;
};

export type UncountedTerminatedPods = {
  readonly succeeded?: readonly string[];
  readonly failed?: readonly string[];
};
