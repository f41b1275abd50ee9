import { isInForce } from '../../../../shared/api/changes';
import type { CronJob, CronJobSpec } from '../../../../shared/api/types/batch-v1';
import { goQuote } from '../../../../shared/errors/go-quote';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, notSupported } from '../../../../shared/errors/field-error';
import { scheduleProblem } from '../../../../shared/meta/cron';
import { isLonger, maxLengthProblem } from '../../../../shared/meta/dns-names';
import { getEmptiedFields } from '../../../../shared/schema/emptied';
import { Age } from '../../../engine/registry/object-table';
import type { KindSettings, Strategy, WriteInfo } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { AGE, containerColumns, NAME } from '../columns/common';
import { NONE, selectorText, UNSET } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { keptTemplate } from '../pod-template/pod-spec-fields';
import { privilegeRule } from '../pod-template/privileged-containers';
import { fields, needed, nonNegative, requiredChoice } from '../rules/primitives';
import { selectorInGo } from '../rules/selector-in-go';
import { jobSpec } from './jobs';

/** A CronJob appends 11 characters to its name for each Job, whose name may have 63. */
const CRON_JOB_NAME_BYTES_MAX = 52;

/** The Jobs of a CronJob get their selectors from the server. */
const cronJobRules: Pick<Strategy<CronJob>, 'validate' | 'validateNew' | 'validateUpdate'> = {
  validate: (cronJob, { settings }) => [
    ...validateCronJobSpec(cronJob, settings),
    ...privilegeRule(cronJob.spec.jobTemplate.spec.template.spec, {
      path: 'spec.jobTemplate.spec.template.spec',
      settings,
    }),
  ],
  validateNew: ({ metadata: { name = '' }, spec }) => [
    ...zoneInSchedule(spec),
    ...timeZone(spec.timeZone, 'spec.timeZone'),
    ...(isLonger(name, CRON_JOB_NAME_BYTES_MAX)
      ? [invalid('metadata.name', name, maxLengthProblem(CRON_JOB_NAME_BYTES_MAX))]
      : []),
  ],
  validateUpdate: ({ spec }, { spec: previous }) => [
    ...zoneInSchedule(spec, previous),
    ...(spec.timeZone === previous.timeZone ? [] : timeZone(spec.timeZone, 'spec.timeZone')),
  ],
};

const ZONE = 'TZ';

/** A schedule that had a time zone before there was a field for it may keep one. */
function zoneInSchedule({ schedule, timeZone: zone }: CronJobSpec, previous?: CronJobSpec): FieldError[] {
  if (!isInForce('timeZonesInFields') || !schedule.includes(ZONE)) return [];
  const path = 'spec.schedule';
  if (previous?.schedule.includes(ZONE) !== true) {
    return [invalid(path, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead')];
  }
  if (zone === undefined) return [];
  return [invalid(path, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule')];
}

/** The schedule without a time zone in front, which newer releases read. */
function withoutZone(schedule: string): string {
  return isInForce('timeZonesInFields') ? schedule.replace(/^(?:CRON_)?TZ=\S* +/, '') : schedule;
}

const ZONE_PART = /^(?!-)(?!\.{1,2}$)[A-Za-z.\-_0-9+]{1,14}$/;

/** The name of a time zone of IANA's database. */
function timeZone(zone: string | undefined, path: string): FieldError[] {
  if (zone === undefined) return [];
  if (zone === '') return [invalid(path, zone, 'timeZone must be nil or non-empty string')];
  const unknown = [invalid(path, zone, `unknown time zone ${zone}`)];
  if (!zone.split('/').every((part) => ZONE_PART.test(part))) return unknown;
  if (zone.toLowerCase() === 'local') {
    const why = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    return [invalid(path, zone, why)];
  }
  return isTimeZone(zone) ? [] : unknown;
}

/** Offsets such as `+0100`, which newer JavaScript engines accept, are no names. */
function isTimeZone(zone: string): boolean {
  if (zone.startsWith('+')) return false;
  try {
    const known = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
    // The case counts.
    return known === zone || known.toLowerCase() !== zone.toLowerCase();
  } catch {
    return false;
  }
}

const historyLimits = fields<CronJobSpec>({
  successfulJobsHistoryLimit: nonNegative,
  failedJobsHistoryLimit: nonNegative,
});

function validateCronJobSpec(cronJob: CronJob, settings: KindSettings): FieldError[] {
  const { spec } = cronJob;
  const { schedule } = spec;
  const problem = schedule === '' ? undefined : scheduleProblem(withoutZone(schedule));
  const { spec: job } = spec.jobTemplate;
  const path = 'spec.jobTemplate.spec';
  return [
    ...needed(schedule, 'spec.schedule'),
    ...(problem === undefined ? [] : [invalid('spec.schedule', schedule, problem)]),
    ...nonNegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds'),
    ...requiredChoice(spec.concurrencyPolicy, 'spec.concurrencyPolicy', ['Allow', 'Forbid', 'Replace']),
    ...jobSpec(job, path, settings),
    ...(job.selector === undefined
      ? []
      : [
          invalid(
            `${path}.selector`,
            selectorInGo(job.selector, getEmptiedFields(cronJob, 'spec')),
            '`selector` will be auto-generated',
          ),
        ]),
    ...(job.manualSelector === true ? [notSupported(`${path}.manualSelector`, true, ['nil', 'false'])] : []),
    ...historyLimits(spec, 'spec'),
  ];
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

const cronJobStrategy: Strategy<CronJob> = {
  compat: {
    metadataChecks: 'old names',
    defaultPropagationIn: { v1beta1: 'Orphan' },
    unknownFieldMessage: (field, version) =>
      version === 'v1beta1' ? `field label ${goQuote(field)} not supported for "CronJob"` : undefined,
  },
  ...cronJobRules,
  tracksGeneration: isInForce('templateGenerations'),
  prepareForCreate: (object, info) => withKeptJobTemplate(object, info),
  prepareForUpdate: (next, previous, info) => withKeptJobTemplate(next, info, previous),
  subresources: { status: { ...statusSubresource, metadataChecks: 'least' } },
};

const cronJobTable = tableOf<CronJob>([
  NAME,
  { name: 'Schedule', cell: ({ spec }) => spec.schedule },
  ...(isInForce('timeZoneColumn')
    ? [{ name: 'Timezone', cell: ({ spec }: CronJob) => spec.timeZone ?? NONE }]
    : []),
  { name: 'Suspend', type: 'boolean', cell: ({ spec }) => suspended(spec.suspend) },
  { name: 'Active', type: 'integer', cell: ({ status }) => status?.active?.length ?? 0 },
  {
    name: 'Last Schedule',
    cell: ({ status }) => (status?.lastScheduleTime === undefined ? NONE : new Age(status.lastScheduleTime)),
  },
  AGE,
  ...containerColumns<CronJob>(({ spec }) => spec.jobTemplate.spec.template),
  { name: 'Selector', isWide: true, cell: ({ spec }) => selectorText(spec.jobTemplate.spec.selector) },
]);

/** Text, although the column is declared as a boolean. */
function suspended(value: boolean | undefined): string {
  if (value === undefined) return UNSET;
  return value ? 'True' : 'False';
}

export const cronJobs: Kind<CronJob> = { strategy: cronJobStrategy, table: cronJobTable };
