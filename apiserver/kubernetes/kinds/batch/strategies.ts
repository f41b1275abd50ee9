import type { CronJob, Job, JobSpec } from '../../../../shared/api/types/batch-v1';
import type { Strategy, WriteInfo } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { labelledWorkloadStatus } from '../apps/workload-status';
import { isOn } from '../field-gates';
import { keptTemplate } from '../pod-template/pod-spec-fields';
import { withGeneratedSelector } from './job-selector';
import { cronJobRules, jobRules } from './jobs-rules';

/** The spec of a Job without the fields of features that are off, unless it has had them; one that was not suspended stays so. */
function keptJobSpec(spec: JobSpec, info: WriteInfo, previous?: JobSpec): JobSpec {
  const { completionMode, suspend, ...kept } = spec;
  const keepsMode = isOn(info.settings, 'IndexedJob') || previous?.completionMode !== undefined;
  const allowed =
    isOn(info.settings, 'SuspendJob') || previous?.suspend === true ? suspend : previous?.suspend;
  return {
    ...kept,
    ...(keepsMode && completionMode !== undefined ? { completionMode } : {}),
    ...(allowed === undefined ? {} : { suspend: allowed }),
    template: keptTemplate(kept.template, info, previous?.template),
  };
}

/** What such a field says by default comes with its feature. */
function withKeptSpec(job: Job, info: WriteInfo, previous?: Job): Job {
  const { settings } = info;
  const defaults = {
    ...(isOn(settings, 'IndexedJob') ? { completionMode: 'NonIndexed' } : {}),
    ...(isOn(settings, 'SuspendJob') ? { suspend: false } : {}),
  };
  return { ...job, spec: { ...defaults, ...keptJobSpec(job.spec, info, previous?.spec) } };
}

/** The Jobs that it makes lose what is not to be; the template keeps it, as upstream. */
function withKeptJobTemplate(cronJob: CronJob, info: WriteInfo, previous?: CronJob): CronJob {
  const { spec } = cronJob;
  const { jobTemplate } = spec;
  const template = keptTemplate(jobTemplate.spec.template, info, previous?.spec.jobTemplate.spec.template);
  return {
    ...cronJob,
    spec: { ...spec, jobTemplate: { ...jobTemplate, spec: { ...jobTemplate.spec, template } } },
  };
}

export const cronJobs: Strategy<CronJob> = {
  metadataChecks: 'old names',
  ...cronJobRules,
  defaultPropagationIn: { v1beta1: 'Orphan' },
  prepareForCreate: (object, info) => withKeptJobTemplate(object, info),
  prepareForUpdate: (next, previous, info) => withKeptJobTemplate(next, info, previous),
  subresources: { status: { ...statusSubresource, metadataChecks: 'least' } },
};

export const jobs: Strategy<Job> = {
  ...jobRules,
  defaultPropagation: 'Orphan',
  selectableFields: { 'status.successful': '0' },
  fieldSources: { 'status.successful': ['status.succeeded'] },
  prepareForCreate: (job, info) => withGeneratedSelector(withKeptSpec(job, info)),
  prepareForUpdate: (job, previous, info) => withKeptSpec(job, info, previous),
  subresources: labelledWorkloadStatus('jobs'),
};
