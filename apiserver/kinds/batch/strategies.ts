import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, record } from '../../../shared/object/accessors';
import { isLonger, maxLengthProblem } from '../../../shared/meta/dns-names';
import type { NameRule } from '../../../shared/meta/name-rules';
import { subdomainName } from '../../../shared/meta/name-rules';
import type { ApiObject } from '../../../shared/object/object';
import type { Strategy } from '../../registry/strategy';
import { workloadStatus } from '../apps/workload-status';
import { withSpec, withTemplate } from '../pod-template/kept-template';
import { withGeneratedSelector } from './job-selector';
import { validateCronJob, validateJob, validateJobUpdate } from './jobs-rules';

/** A CronJob appends 11 characters to its name for each Job, whose name may have 63. */
const CRON_JOB_NAME_BYTES_MAX = 52;
const cronJobName: NameRule = (name, isPrefix) => [
  ...subdomainName(name, isPrefix),
  ...(!isPrefix && isLonger(name, CRON_JOB_NAME_BYTES_MAX)
    ? [maxLengthProblem(CRON_JOB_NAME_BYTES_MAX)]
    : []),
];

/** The spec of a Job as v1.21 keeps it: indexed and suspended Jobs are features that are off there. */
function keptJobSpec(spec: Json): Json {
  const { completionMode: _mode, suspend: _suspend, ...kept } = spec;
  return withTemplate(kept);
}

function withKeptJobTemplate(object: ApiObject): ApiObject {
  return withSpec(object, (spec) => {
    const template = optionalRecord(spec['jobTemplate']);
    if (template === undefined) return spec;
    return { ...spec, jobTemplate: { ...template, spec: keptJobSpec(record(template['spec'])) } };
  });
}

export const cronJobs: Strategy = {
  nameRule: cronJobName,
  defaultPropagationIn: { v1beta1: 'Orphan' },
  prepareForCreate: withKeptJobTemplate,
  prepareForUpdate: withKeptJobTemplate,
  validate: validateCronJob,
};

export const jobs: Strategy = {
  defaultPropagation: 'Orphan',
  selectableFields: { 'status.successful': '0' },
  fieldSources: { 'status.successful': ['status.succeeded'] },
  prepareForCreate: (object) => withGeneratedSelector(withSpec(object, keptJobSpec)),
  prepareForUpdate: (object) => withSpec(object, keptJobSpec),
  validate: validateJob,
  validateUpdate: validateJobUpdate,
  subresources: workloadStatus('jobs'),
};
