import type { CronJob, Job, JobSpec } from '../../../shared/api/types/batch-v1';
import { isLonger, maxLengthProblem } from '../../../shared/meta/dns-names';
import type { NameRule } from '../../../shared/meta/name-rules';
import { subdomainName } from '../../../shared/meta/name-rules';
import type { Strategy, WriteInfo } from '../../registry/strategy';
import { workloadStatus } from '../apps/workload-status';
import { keptTemplate } from '../pod-template/pod-spec-fields';
import { withGeneratedSelector } from './job-selector';
import { cronJobRules, jobRules } from './jobs-rules';

/** A CronJob appends 11 characters to its name for each Job, whose name may have 63. */
const CRON_JOB_NAME_BYTES_MAX = 52;
const cronJobName: NameRule = (name, isPrefix) => [
  ...subdomainName(name, isPrefix),
  ...(!isPrefix && isLonger(name, CRON_JOB_NAME_BYTES_MAX)
    ? [maxLengthProblem(CRON_JOB_NAME_BYTES_MAX)]
    : []),
];

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
  nameRule: cronJobName,
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
