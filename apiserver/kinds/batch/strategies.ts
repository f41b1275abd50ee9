import type { CronJob, Job, JobSpec } from '../../../shared/api/types/batch-v1';
import type { Strategy, WriteInfo } from '../../registry/strategy';
import { workloadStatus } from '../apps/workload-status';
import { keptTemplate } from '../pod-template/pod-spec-fields';
import { withGeneratedSelector } from './job-selector';
import { cronJobRules, jobRules } from './jobs-rules';

/** The spec of a Job as v1.21 keeps it: indexed and suspended Jobs are features that are off there. */
function keptJobSpec(
  { completionMode: _mode, suspend: _suspend, ...kept }: JobSpec,
  info: WriteInfo,
): JobSpec {
  return { ...kept, template: keptTemplate(kept.template, info) };
}

function withKeptSpec(job: Job, info: WriteInfo): Job {
  return { ...job, spec: keptJobSpec(job.spec, info) };
}

function withKeptJobTemplate(cronJob: CronJob, info: WriteInfo): CronJob {
  const { spec } = cronJob;
  const { jobTemplate } = spec;
  return {
    ...cronJob,
    spec: { ...spec, jobTemplate: { ...jobTemplate, spec: keptJobSpec(jobTemplate.spec, info) } },
  };
}

export const cronJobs: Strategy<CronJob> = {
  metadataChecks: 'old names',
  ...cronJobRules,
  defaultPropagationIn: { v1beta1: 'Orphan' },
  prepareForCreate: withKeptJobTemplate,
  prepareForUpdate: (next, _previous, info) => withKeptJobTemplate(next, info),
};

export const jobs: Strategy<Job> = {
  ...jobRules,
  defaultPropagation: 'Orphan',
  selectableFields: { 'status.successful': '0' },
  fieldSources: { 'status.successful': ['status.succeeded'] },
  prepareForCreate: (job, info) => withGeneratedSelector(withKeptSpec(job, info)),
  prepareForUpdate: (job, _previous, info) => withKeptSpec(job, info),
  subresources: workloadStatus('jobs'),
};
