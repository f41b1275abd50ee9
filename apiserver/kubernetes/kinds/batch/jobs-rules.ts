import type { CronJob, CronJobSpec, Job, JobSpec } from '../../../../shared/api/types/batch-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { isLonger, maxLengthProblem } from '../../../../shared/meta/dns-names';
import { matchesLabels } from '../../../../shared/meta/labels';
import { validateLabelSelector } from '../../../../shared/meta/validate-labels';
import { deepEqual } from '../../../../shared/object/clone';
import { saysSame } from '../../../../shared/schema/same-meaning';
import { messageType } from '../../../../shared/schema/types';
import { emptiedIn } from '../../../../shared/schema/emptied';
import type { Strategy } from '../../../engine/registry/strategy';
import { scheduleProblem } from './cron';
import { privilegeRule } from '../pod-template/privileged-containers';
import { validatePodTemplateSpec } from '../pod-template/pod-spec';
import { choice, fields, needed, nonNegative, requiredChoice } from '../rules/primitives';
import { parsedSelector, selectsTemplate } from '../rules/selectors';
import { labelsInGo, selectorInGo } from '../rules/selector-in-go';

/** The labels by which the pods of one Job are known. */
export const JOB_LABEL = { controllerUid: 'controller-uid', jobName: 'job-name' } as const;

const counts = fields<JobSpec>({
  parallelism: nonNegative,
  completions: nonNegative,
  activeDeadlineSeconds: nonNegative,
  backoffLimit: nonNegative,
  ttlSecondsAfterFinished: nonNegative,
});

const SETTLED = ['completions', 'selector', 'template', 'completionMode'] as const;

/** What a Job makes, and how often, stays. */
export const jobRules: Pick<Strategy<Job>, 'validate' | 'validateUpdate'> = {
  validate: (job, { settings }) => [
    ...validateJob(job),
    ...privilegeRule(job.spec.template.spec, { path: 'spec.template.spec', settings }),
  ],
  validateUpdate: (next, previous) =>
    SETTLED.filter((name) => !isSame(name, next.spec, previous.spec)).map((name) =>
      invalid(
        `spec.${name}`,
        name === 'selector' ? selectorInGo(next.spec.selector, emptiedIn(next, 'spec')) : next.spec[name],
        'field is immutable',
      ),
    ),
};

/** A Job of before its feature was on has no mode, and may get the usual one. */
function isSame(name: (typeof SETTLED)[number], next: JobSpec, previous: JobSpec): boolean {
  if (name === 'template') return saysSame(POD_TEMPLATE, next.template, previous.template);
  if (name !== 'completionMode') return deepEqual(next[name], previous[name]);
  const { completionMode: former = next.completionMode === NON_INDEXED ? NON_INDEXED : undefined } = previous;
  return next.completionMode === former;
}

const POD_TEMPLATE = messageType('core/v1.PodTemplateSpec');
const NON_INDEXED = 'NonIndexed';

/** A CronJob appends 11 characters to its name for each Job, whose name may have 63. */
const CRON_JOB_NAME_BYTES_MAX = 52;

/** The Jobs of a CronJob get their selectors from the server. */
export const cronJobRules: Pick<Strategy<CronJob>, 'validate' | 'validateNew'> = {
  validate: (cronJob, { settings }) => [
    ...validateCronJobSpec(cronJob),
    ...privilegeRule(cronJob.spec.jobTemplate.spec.template.spec, {
      path: 'spec.jobTemplate.spec.template.spec',
      settings,
    }),
  ],
  validateNew: ({ metadata: { name = '' } }) =>
    isLonger(name, CRON_JOB_NAME_BYTES_MAX)
      ? [invalid('metadata.name', name, maxLengthProblem(CRON_JOB_NAME_BYTES_MAX))]
      : [],
};

function validateJob(job: Job): FieldError[] {
  const { spec } = job;
  const { selector: given, template } = spec;
  const selector = parsedSelector(given);
  return [
    ...generatedSelector(job),
    ...jobSpec(spec, 'spec'),
    ...(given === undefined ? [required('spec.selector')] : validateLabelSelector(given, 'spec.selector')),
    ...(selector === undefined ? [] : selectsTemplate(selector, template, emptiedIn(job, 'spec'))),
  ];
}

/** The server made the selector unless `manualSelector` says otherwise; then it must find the Job's own pods. */
function generatedSelector(job: Job): FieldError[] {
  const { metadata, spec } = job;
  const { selector: given, template } = spec;
  if (spec.manualSelector === true || given === undefined) return [];
  const { uid = '', name = '' } = metadata;
  const { labels = {} } = template.metadata;
  const selector = parsedSelector(given);
  const own = { [JOB_LABEL.controllerUid]: uid, [JOB_LABEL.jobName]: name };
  return [
    ...Object.entries(own).flatMap(([key, value]) => ownLabel(labels, key, value)),
    ...(selector === undefined || matchesLabels(selector, own)
      ? []
      : [
          invalid(
            'spec.selector',
            selectorInGo(given, emptiedIn(job, 'spec')),
            '`selector` not auto-generated',
          ),
        ]),
  ];
}

function ownLabel(labels: Readonly<Record<string, string>>, key: string, expected: string): FieldError[] {
  const path = `spec.template.metadata.labels[${key}]`;
  const actual = labels[key];
  if (actual === undefined) return [required(path, `must be '${expected}'`)];
  return actual === expected ? [] : [invalid(path, labelsInGo(labels), `must be '${expected}'`)];
}

const INDEXED_PARALLELISM_MAX = 100_000;

function jobSpec(spec: JobSpec, path: string): FieldError[] {
  const { template } = spec;
  const policy = template.spec.restartPolicy;
  return [
    ...counts(spec, path),
    ...completionMode(spec, path),
    ...validatePodTemplateSpec(template, `${path}.template`),
    ...endingPolicy(policy, `${path}.template.spec.restartPolicy`),
  ];
}

const ENDING = ['OnFailure', 'Never'];

/** Pods of a Job end; those that nobody gave a policy would always be restarted. */
function endingPolicy(policy: string | undefined, path: string): FieldError[] {
  if (policy === undefined || policy === '' || policy === 'Always')
    return [required(path, 'valid values: "OnFailure", "Never"')];
  return choice(policy, path, ENDING);
}

function completionMode(
  { completionMode: mode, parallelism = 0, completions }: JobSpec,
  path: string,
): FieldError[] {
  if (mode === undefined || mode === 'NonIndexed') return [];
  if (mode !== 'Indexed') return [notSupported(`${path}.completionMode`, mode, ['NonIndexed', 'Indexed'])];
  return [
    ...(completions === undefined
      ? [required(`${path}.completions`, 'when completion mode is Indexed')]
      : []),
    ...(parallelism > INDEXED_PARALLELISM_MAX
      ? [
          invalid(
            `${path}.parallelism`,
            parallelism,
            `must be less than or equal to ${String(INDEXED_PARALLELISM_MAX)} when completion mode is Indexed`,
          ),
        ]
      : []),
  ];
}

const historyLimits = fields<CronJobSpec>({
  successfulJobsHistoryLimit: nonNegative,
  failedJobsHistoryLimit: nonNegative,
});

function validateCronJobSpec(cronJob: CronJob): FieldError[] {
  const { spec } = cronJob;
  const { schedule } = spec;
  const problem = schedule === '' ? undefined : scheduleProblem(schedule);
  const { spec: job } = spec.jobTemplate;
  const path = 'spec.jobTemplate.spec';
  return [
    ...needed(schedule, 'spec.schedule'),
    ...(problem === undefined ? [] : [invalid('spec.schedule', schedule, problem)]),
    ...nonNegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds'),
    ...requiredChoice(spec.concurrencyPolicy, 'spec.concurrencyPolicy', ['Allow', 'Forbid', 'Replace']),
    ...jobSpec(job, path),
    ...(job.selector === undefined
      ? []
      : [
          invalid(
            `${path}.selector`,
            selectorInGo(job.selector, emptiedIn(cronJob, 'spec')),
            '`selector` will be auto-generated',
          ),
        ]),
    ...(job.manualSelector === true ? [notSupported(`${path}.manualSelector`, true, ['nil', 'false'])] : []),
    ...historyLimits(spec, 'spec'),
  ];
}
