import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, notSupported, required } from '../../../shared/errors/field-error';
import { matchesLabels } from '../../../shared/meta/labels';
import type { ApiObject } from '../../../shared/object/object';
import { validateLabelSelector } from '../../../shared/meta/validate-labels';
import type { Json } from '../../../shared/object/accessors';
import {
  integer,
  optionalRecord,
  optionalText,
  record,
  stringMap,
  text,
} from '../../../shared/object/accessors';
import { scheduleProblem } from './cron';
import { validatePodTemplateSpec } from '../pod-template/pod-spec';
import { fields, immutable, needed, nonNegative, requiredChoice } from '../rules/primitives';
import { parsedSelector, selectsTemplate } from '../rules/selectors';

/** The labels by which the pods of one Job are known. */
export const JOB_LABEL = { controllerUid: 'controller-uid', jobName: 'job-name' } as const;

const counts = fields({
  parallelism: nonNegative,
  completions: nonNegative,
  activeDeadlineSeconds: nonNegative,
  backoffLimit: nonNegative,
  ttlSecondsAfterFinished: nonNegative,
});

/** A Job. */
export function validateJob(job: ApiObject): FieldError[] {
  const spec = record(job['spec']);
  const given = optionalRecord(spec['selector']);
  const selector = parsedSelector(spec['selector']);
  return [
    ...generatedSelector(job, spec),
    ...jobSpec(spec, 'spec'),
    ...(given === undefined ? [required('spec.selector')] : validateLabelSelector(given, 'spec.selector')),
    ...(selector === undefined ? [] : selectsTemplate(selector, spec['template'], 'spec.template')),
  ];
}

/** The server made the selector unless `manualSelector` says otherwise; then it must find the Job's own pods. */
function generatedSelector(job: ApiObject, spec: Json): FieldError[] {
  const given = optionalRecord(spec['selector']);
  if (spec['manualSelector'] === true || given === undefined) return [];
  const { uid = '', name = '' } = job.metadata;
  const labels = stringMap(record(record(spec['template'])['metadata'])['labels']);
  const selector = parsedSelector(given);
  const own = { [JOB_LABEL.controllerUid]: uid, [JOB_LABEL.jobName]: name };
  return [
    ...Object.entries(own).flatMap(([key, value]) => ownLabel(labels, key, value)),
    ...(selector === undefined || matchesLabels(selector, own)
      ? []
      : [invalid('spec.selector', given, '`selector` not auto-generated')]),
  ];
}

function ownLabel(labels: Readonly<Record<string, string>>, key: string, expected: string): FieldError[] {
  const path = 'spec.template.metadata.labels';
  const actual = labels[key];
  if (actual === undefined) return [required(path, `must be '${expected}'`)];
  return actual === expected ? [] : [invalid(path, labels, `must be '${expected}'`)];
}

const INDEXED_PARALLELISM_MAX = 100_000;

function jobSpec(spec: Json, path: string): FieldError[] {
  const template = record(spec['template']);
  const policy = text(record(template['spec'])['restartPolicy']);
  return [
    ...counts(spec, path),
    ...completionMode(spec, path),
    ...validatePodTemplateSpec(template, `${path}.template`),
    ...(policy === 'OnFailure' || policy === 'Never'
      ? []
      : [required(`${path}.template.spec.restartPolicy`, 'valid values: "OnFailure", "Never"')]),
  ];
}

function completionMode(spec: Json, path: string): FieldError[] {
  const mode = optionalText(spec['completionMode']);
  const parallelism = integer(spec['parallelism']) ?? 0;
  if (mode === undefined || mode === 'NonIndexed') return [];
  if (mode !== 'Indexed') return [notSupported(`${path}.completionMode`, mode, ['NonIndexed', 'Indexed'])];
  return [
    ...(spec['completions'] === undefined
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

const SETTLED = ['completions', 'selector', 'template', 'completionMode'];

/** What a Job makes, and how often, stays. */
export function validateJobUpdate(next: ApiObject, previous: ApiObject): FieldError[] {
  const spec = record(next['spec']);
  const old = record(previous['spec']);
  return SETTLED.flatMap((name) => immutable(spec[name], old[name], `spec.${name}`));
}

const cronCounts = fields({
  startingDeadlineSeconds: nonNegative,
  successfulJobsHistoryLimit: nonNegative,
  failedJobsHistoryLimit: nonNegative,
});

/** A CronJob: its Jobs get their selectors from the server. */
export function validateCronJob(object: ApiObject): FieldError[] {
  const spec = record(object['spec']);
  const schedule = text(spec['schedule']);
  const problem = schedule === '' ? undefined : scheduleProblem(schedule);
  const job = record(record(spec['jobTemplate'])['spec']);
  const path = 'spec.jobTemplate.spec';
  return [
    ...needed(schedule, 'spec.schedule'),
    ...(problem === undefined ? [] : [invalid('spec.schedule', schedule, problem)]),
    ...cronCounts(spec, 'spec'),
    ...requiredChoice(spec['concurrencyPolicy'], 'spec.concurrencyPolicy', ['Allow', 'Forbid', 'Replace']),
    ...jobSpec(job, path),
    ...(optionalRecord(job['selector']) === undefined
      ? []
      : [invalid(`${path}.selector`, job['selector'], '`selector` will be auto-generated')]),
    ...(job['manualSelector'] === true
      ? [notSupported(`${path}.manualSelector`, true, ['nil', 'false'])]
      : []),
  ];
}
