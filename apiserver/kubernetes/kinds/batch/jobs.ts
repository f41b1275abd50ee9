import { isInForce } from '../../../../shared/api/changes';
import type { Job, JobSpec } from '../../../../shared/api/types/batch-v1';
import { dns1123LabelProblems } from '../../../../shared/meta/dns-names';
import { LABEL } from '../../../../shared/names';
import { goQuote } from '../../../../shared/errors/go-quote';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { matchesLabels } from '../../../../shared/meta/labels';
import { parseTime } from '../../../../shared/meta/time';
import { validateLabelSelector } from '../../../../shared/meta/validate-labels';
import { deepEqual } from '../../../../shared/object/clone';
import { getEmptiedFields } from '../../../../shared/schema/emptied';
import type { Cell } from '../../../engine/registry/object-table';
import { Age, humanDuration } from '../../../engine/registry/object-table';
import type { KindSettings, Strategy, WriteInfo } from '../../../engine/registry/strategy';
import { validateJobPolicies } from './job-policies';
import { validateJobStatusUpdate } from './job-status';
import { isSameTemplate, mayResize } from './job-template';
import { labelledWorkloadStatus } from '../apps/workload-status';
import { AGE, containerColumns, NAME } from '../columns/common';
import { selectorText } from '../columns/format';
import { tableOf } from '../columns/table';
import { isOn } from '../field-gates';
import type { Kind } from '../kind';
import { validatePodTemplateSpec } from '../pod-template/pod-spec';
import { keptTemplate } from '../pod-template/pod-spec-fields';
import { privilegeRule } from '../pod-template/privileged-containers';
import { choice, fields, nonNegative } from '../rules/primitives';
import { labelsInGo, selectorInGo } from '../rules/selector-in-go';
import { parsedSelector, selectsTemplate } from '../rules/selectors';

/** The labels by which the pods of one Job are known, in newer releases besides those with a domain. */
const JOB_LABEL = { controllerUid: 'controller-uid', jobName: 'job-name' } as const;
const HAS_DOMAINS = isInForce('jobLabelsWithDomain');
/** The label that selects the pods. */
const SELECTED_LABEL = HAS_DOMAINS ? LABEL.jobControllerUid : JOB_LABEL.controllerUid;

/** The labels of the pods of a Job: those that all have, and those that came later. */
function labelsOf({ metadata: { uid = '', name = '' } }: Job): {
  readonly old: Readonly<Record<string, string>>;
  readonly later: Readonly<Record<string, string>>;
} {
  return {
    old: { [JOB_LABEL.controllerUid]: uid, [JOB_LABEL.jobName]: name },
    later: HAS_DOMAINS ? { [LABEL.jobControllerUid]: uid, [LABEL.jobName]: name } : {},
  };
}

const counts = fields<JobSpec>({
  parallelism: nonNegative,
  completions: nonNegative,
  activeDeadlineSeconds: nonNegative,
  backoffLimit: nonNegative,
  ttlSecondsAfterFinished: nonNegative,
  backoffLimitPerIndex: nonNegative,
  maxFailedIndexes: nonNegative,
});

const SETTLED = [
  'completions',
  'selector',
  'template',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
] as const;

/** What a Job makes, and how often, stays. */
const jobRules: Pick<Strategy<Job>, 'validate' | 'validateNew' | 'validateUpdate'> = {
  validateNew: (job) => (isSelectorGenerated(job) ? missingLabels(job, labelsOf(job).later) : []),
  validate: (job, { settings }) => [
    ...validateJob(job, settings),
    ...privilegeRule(job.spec.template.spec, { path: 'spec.template.spec', settings }),
  ],
  validateUpdate: (next, previous, { settings }) =>
    SETTLED.filter((name) => !isSame(name, next, previous, settings)).map((name) =>
      name === 'completions' && isElastic(next.spec)
        ? invalid(
            'spec.completions',
            next.spec.completions,
            'can only be modified in tandem with spec.parallelism',
          )
        : invalid(
            // Of a suspended Job the rest of the template is compared without its metadata.
            name === 'template' && mayResize(previous, settings) ? 'spec.template.spec' : `spec.${name}`,
            name === 'selector'
              ? selectorInGo(next.spec.selector, getEmptiedFields(next, 'spec'))
              : next.spec[name],
            'field is immutable',
          ),
    ),
};

/** A Job with an index for each pod may have more or fewer of them, all at once. */
function isElastic({ completionMode }: JobSpec): boolean {
  return completionMode === 'Indexed' && isInForce('elasticIndexedJobs');
}

/** A Job of before its feature was on has no mode, and may get the usual one. */
function isSame(
  name: (typeof SETTLED)[number],
  nextJob: Job,
  previousJob: Job,
  settings: KindSettings,
): boolean {
  const { spec: next } = nextJob;
  const { spec: previous } = previousJob;
  if (name === 'template') return isSameTemplate(next.template, previousJob, settings);
  if (name === 'completions' && isElastic(next)) {
    const { completions, parallelism } = next;
    return completions === undefined || completions === previous.completions || completions === parallelism;
  }
  if (name !== 'completionMode') return deepEqual(next[name], previous[name]);
  const { completionMode: former = next.completionMode === NON_INDEXED ? NON_INDEXED : undefined } = previous;
  return next.completionMode === former;
}

const NON_INDEXED = 'NonIndexed';

function validateJob(job: Job, settings: KindSettings): FieldError[] {
  const { spec } = job;
  const { selector: given, template } = spec;
  const selector = parsedSelector(given);
  return [
    ...generatedSelector(job),
    ...jobSpec(spec, 'spec', settings),
    ...(given === undefined ? [required('spec.selector')] : validateLabelSelector(given, 'spec.selector')),
    ...(selector === undefined ? [] : selectsTemplate(selector, template, getEmptiedFields(job, 'spec'))),
    ...indexedName(job),
  ];
}

/** The name of the pod of the last index, as its host name. */
function indexedName({
  metadata: { name = '' },
  spec: { completionMode, completions = 0 },
}: Job): FieldError[] {
  if (completionMode !== 'Indexed' || completions <= 0 || !isInForce('indexedHostnames')) return [];
  const hostname = `${name}-${String(completions - 1)}`;
  const why = `will not able to create pod with invalid DNS label: ${hostname}`;
  return dns1123LabelProblems(hostname).length === 0 ? [] : [invalid('metadata.name', name, why)];
}

/** The server made the selector unless `manualSelector` says otherwise. */
function isSelectorGenerated({ spec }: Job): boolean {
  return spec.manualSelector !== true && spec.selector !== undefined;
}

/** A selector that the server made must find the Job's own pods. */
function generatedSelector(job: Job): FieldError[] {
  const { spec } = job;
  const { selector: given, template } = spec;
  if (!isSelectorGenerated(job)) return [];
  const { labels = {} } = template.metadata;
  const selector = parsedSelector(given);
  const { old, later } = labelsOf(job);
  return [
    ...missingLabels(job, old),
    // New Jobs have these, too; those of older releases lack them.
    ...Object.entries(later).flatMap(([key, value]) =>
      labels[key] === undefined ? [] : ownLabel(labels, key, value),
    ),
    ...(selector === undefined || matchesLabels(selector, { ...old, ...later })
      ? []
      : [
          invalid(
            'spec.selector',
            selectorInGo(given, getEmptiedFields(job, 'spec')),
            '`selector` not auto-generated',
          ),
        ]),
  ];
}

function missingLabels({ spec }: Job, own: Readonly<Record<string, string>>): FieldError[] {
  const { labels = {} } = spec.template.metadata;
  return Object.entries(own).flatMap(([key, value]) => ownLabel(labels, key, value));
}

function ownLabel(labels: Readonly<Record<string, string>>, key: string, expected: string): FieldError[] {
  const path = `spec.template.metadata.labels[${key}]`;
  const actual = labels[key];
  if (actual === undefined) return [required(path, `must be '${expected}'`)];
  return actual === expected ? [] : [invalid(path, labelsInGo(labels), `must be '${expected}'`)];
}

const INDEXED_PARALLELISM_MAX = 100_000;

export function jobSpec(spec: JobSpec, path: string, settings: KindSettings): FieldError[] {
  const { template } = spec;
  const policy = template.spec.restartPolicy;
  return [
    ...counts(spec, path),
    ...validateCompletionMode(spec, path),
    ...validateJobPolicies(spec, path),
    ...validatePodTemplateSpec(template, `${path}.template`, settings),
    ...endingPolicy(policy, `${path}.template.spec.restartPolicy`),
    ...(spec.podFailurePolicy !== undefined && policy === 'OnFailure'
      ? [
          invalid(
            `${path}.template.spec.restartPolicy`,
            policy,
            'only "Never" is supported when podFailurePolicy is specified',
          ),
        ]
      : []),
  ];
}

const ENDING = ['OnFailure', 'Never'];

/** The pods of a Job end, so the default restart policy `Always` is not allowed. */
function endingPolicy(policy: string | undefined, path: string): FieldError[] {
  if (policy === undefined || policy === '' || policy === 'Always')
    return [required(path, 'valid values: "OnFailure", "Never"')];
  return choice(policy, path, ENDING);
}

function validateCompletionMode(
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

/**
 * Makes the pods of a Job distinguishable from all others: unless `manualSelector` says that the client does it, its template gets labels with
 * the Job's uid and name, and its selector wants that uid. Wrong values that are already there are left for validation to refuse.
 * A Job that got its labels from its template by default has these, too.
 */
function withGeneratedSelector(job: Job): Job {
  const { spec } = job;
  if (spec.manualSelector === true) return job;
  const { uid = '' } = job.metadata;
  const { template, selector } = spec;
  const { metadata } = template;
  const { old, later } = labelsOf(job);
  const labels = { ...old, ...later, ...metadata.labels };
  const generated: JobSpec = {
    ...spec,
    selector: { ...selector, matchLabels: { [SELECTED_LABEL]: uid, ...selector?.matchLabels } },
    template: { ...template, metadata: { ...metadata, labels } },
  };
  const { labels: given = {} } = job.metadata;
  const isBare = Object.keys(given).length === 0 || given === metadata.labels;
  return { ...job, ...(isBare ? { metadata: { ...job.metadata, labels } } : {}), spec: generated };
}

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

function withKeptSpec(job: Job, info: WriteInfo, previous?: Job): Job {
  return { ...job, spec: keptJobSpec(job.spec, info, previous?.spec) };
}

/** What a field says by default comes with its feature. */
function withDefaults(job: Job, settings: KindSettings): Job {
  const defaults = {
    ...(isOn(settings, 'IndexedJob') ? { completionMode: 'NonIndexed' } : {}),
    ...(isOn(settings, 'SuspendJob') ? { suspend: false } : {}),
  };
  return { ...job, spec: { ...defaults, ...job.spec } };
}

const STATUS = labelledWorkloadStatus('jobs');

const PRESERVED_PODS =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

const jobStrategy: Strategy<Job> = {
  compat: {
    unknownFieldMessage: (field) => `field label ${goQuote(field)} not supported for Job`,
    ...(isInForce('preservedPodsWarning') ? { defaultPropagationWarning: PRESERVED_PODS } : {}),
  },
  ...jobRules,
  defaultPropagation: 'Orphan',
  selectableFields: { 'status.successful': '0' },
  fieldSources: { 'status.successful': ['status.succeeded'] },
  tracksGeneration: isInForce('templateGenerations'),
  prepareForCreate: (job, info) => withGeneratedSelector(withKeptSpec(job, info)),
  prepareForUpdate: (job, previous, info) => withKeptSpec(job, info, previous),
  subresources: {
    status: {
      ...STATUS.status,
      validateUpdate: (next, previous, info) => [
        ...(STATUS.status.validateUpdate?.(next, previous, info) ?? []),
        ...(isOn(info.settings, 'JobManagedBy') ? validateJobStatusUpdate(next, previous) : []),
      ],
    },
  },
};

const jobTable = tableOf<Job>([
  NAME,
  ...(isInForce('jobStatusColumn') ? [{ name: 'Status', cell: statusText }] : []),
  { name: 'Completions', cell: completionsText },
  { name: 'Duration', cell: duration },
  AGE,
  ...containerColumns<Job>(({ spec }) => spec.template),
  { name: 'Selector', isWide: true, cell: ({ spec }) => selectorText(spec.selector) },
]);

/** The condition that decides, in this order; a Job that is being deleted comes after those that ended. */
const CONDITION_TEXTS = [
  ['Complete', 'Complete'],
  ['Failed', 'Failed'],
  ['', 'Terminating'],
  ['Suspended', 'Suspended'],
  ['FailureTarget', 'FailureTarget'],
  ['SuccessCriteriaMet', 'SuccessCriteriaMet'],
] as const;

function statusText({ metadata, status: { conditions = [] } = {} }: Job): string {
  const found = CONDITION_TEXTS.find(([condition]) =>
    condition === ''
      ? metadata.deletionTimestamp !== undefined
      : conditions.some(({ type, status }) => type === condition && status === 'True'),
  );
  return found?.[1] ?? 'Running';
}

function completionsText({ spec: { completions: wanted, parallelism = 0 }, status }: Job): string {
  const succeeded = String(status?.succeeded ?? 0);
  if (wanted !== undefined) return `${succeeded}/${String(wanted)}`;
  return parallelism > 1 ? `${succeeded}/1 of ${String(parallelism)}` : `${succeeded}/1`;
}

/** Counts on while the job runs; empty before it starts. */
function duration({ status: { startTime, completionTime } = {} }: Pick<Job, 'status'>): Cell {
  const start = parseTime(startTime ?? '');
  if (start === undefined) return '';
  const end = parseTime(completionTime ?? '');
  return end === undefined ? new Age(startTime) : humanDuration(end - start);
}

export const jobs: Kind<Job> = { strategy: jobStrategy, received: withDefaults, table: jobTable };
