import { parseTime } from '../../../shared/meta/time';
import type { ApiObject } from '../../../shared/object/object';
import { Age, humanDuration } from '../columns/age';
import type { Cell, RowOf } from '../columns/cells';
import { containerCells, NONE, selectorText, UNSET, workloadCells } from '../columns/format';
import { ageOf, at, listAt, nameOf, numberAt, textAt } from '../columns/read';

export const jobRow: RowOf = (job) => [
  nameOf(job),
  completions(job),
  duration(job),
  ageOf(job),
  ...workloadCells(job),
];

function completions(job: ApiObject): string {
  const succeeded = String(numberAt(job, 'status', 'succeeded'));
  const wanted = at(job, 'spec', 'completions');
  if (wanted !== undefined) return `${succeeded}/${String(numberAt(job, 'spec', 'completions'))}`;
  const parallelism = numberAt(job, 'spec', 'parallelism');
  return parallelism > 1 ? `${succeeded}/1 of ${String(parallelism)}` : `${succeeded}/1`;
}

/** Counts on while the job runs; empty before it starts. */
function duration(job: ApiObject): Cell {
  const start = parseTime(textAt(job, 'status', 'startTime'));
  if (start === undefined) return '';
  const end = parseTime(textAt(job, 'status', 'completionTime'));
  return end === undefined ? new Age(at(job, 'status', 'startTime')) : humanDuration(end - start);
}

export const cronJobRow: RowOf = (job) => {
  const last = at(job, 'status', 'lastScheduleTime');
  const template = at(job, 'spec', 'jobTemplate');
  return [
    nameOf(job),
    textAt(job, 'spec', 'schedule'),
    suspended(at(job, 'spec', 'suspend')),
    listAt(job, 'status', 'active').length,
    last === undefined ? NONE : new Age(last),
    ageOf(job),
    ...containerCells(at(template, 'spec', 'template')),
    selectorText(at(template, 'spec', 'selector')),
  ];
};

/** Text, although the column is declared as a boolean. */
function suspended(value: unknown): string {
  if (typeof value !== 'boolean') return UNSET;
  return value ? 'True' : 'False';
}
