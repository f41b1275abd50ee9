import type { CronJob, Job } from '../../../../shared/api/types/batch-v1';
import { parseTime } from '../../../../shared/meta/time';
import { Age, humanDuration } from '../../../engine/registry/object-table';
import type { Cell } from '../../../engine/registry/object-table';
import { AGE, containerColumns, NAME } from '../columns/common';
import { NONE, selectorText, UNSET } from '../columns/format';
import { tableOf } from '../columns/table';

export const jobTable = tableOf<Job>([
  NAME,
  { name: 'Completions', cell: completions },
  { name: 'Duration', cell: duration },
  AGE,
  ...containerColumns<Job>(({ spec }) => spec.template),
  { name: 'Selector', isWide: true, cell: ({ spec }) => selectorText(spec.selector) },
]);

function completions({ spec: { completions: wanted, parallelism = 0 }, status }: Job): string {
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

export const cronJobTable = tableOf<CronJob>([
  NAME,
  { name: 'Schedule', cell: ({ spec }) => spec.schedule },
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
