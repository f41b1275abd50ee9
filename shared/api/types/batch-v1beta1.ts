// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Int64, Time } from '../../object/values';
import type { JobSpec } from './batch-v1';
import type { ObjectReference } from './core-v1';
import type { ListMeta, ObjectMeta } from './meta-v1';

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

export type JobTemplateSpec = {
  readonly metadata: ObjectMeta;
  readonly spec: JobSpec;
};
