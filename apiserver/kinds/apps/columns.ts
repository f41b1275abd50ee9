import type { ApiObject } from '../../../shared/object/object';
import { parseGroupVersion } from '../../../shared/api/resources';
import { parseTime } from '../../../shared/meta/time';
import { Age, humanDuration } from '../columns/age';
import type { Cell, RowOf } from '../columns/cells';
import {
  containerCells,
  labelsText,
  NONE,
  plainSelectorText,
  selectorText,
  UNSET,
  workloadCells,
} from '../columns/format';
import { ageOf, at, listAt, mapAt, nameOf, numberAt, textAt } from '../columns/read';

const controllerRevisionRow: RowOf = (revision) => [
  nameOf(revision),
  controllerOf(revision),
  numberAt(revision, 'revision'),
  ageOf(revision),
];

/** `statefulset.apps/web`. */
function controllerOf({ metadata }: ApiObject): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return NONE;
  const { group } = parseGroupVersion(owner.apiVersion);
  const kind = group === '' ? owner.kind : `${owner.kind}.${group}`;
  return `${kind.toLowerCase()}/${owner.name}`;
}

const daemonSetRow: RowOf = (set) => [
  nameOf(set),
  numberAt(set, 'status', 'desiredNumberScheduled'),
  numberAt(set, 'status', 'currentNumberScheduled'),
  numberAt(set, 'status', 'numberReady'),
  numberAt(set, 'status', 'updatedNumberScheduled'),
  numberAt(set, 'status', 'numberAvailable'),
  labelsText(mapAt(set, 'spec', 'template', 'spec', 'nodeSelector')),
  ageOf(set),
  ...workloadCells(set),
];

const deploymentRow: RowOf = (deployment) => [
  nameOf(deployment),
  readyOfDesired(deployment),
  numberAt(deployment, 'status', 'updatedReplicas'),
  numberAt(deployment, 'status', 'availableReplicas'),
  ageOf(deployment),
  ...containerCells(at(deployment, 'spec', 'template')),
  plainSelectorText(at(deployment, 'spec', 'selector')),
];

const replicaSetRow: RowOf = (set) => [
  nameOf(set),
  numberAt(set, 'spec', 'replicas'),
  numberAt(set, 'status', 'replicas'),
  numberAt(set, 'status', 'readyReplicas'),
  ageOf(set),
  ...workloadCells(set),
];

const statefulSetRow: RowOf = (set) => [
  nameOf(set),
  readyOfDesired(set),
  ageOf(set),
  ...containerCells(at(set, 'spec', 'template')),
];

function readyOfDesired(workload: ApiObject): string {
  const ready = numberAt(workload, 'status', 'readyReplicas');
  return `${String(ready)}/${String(numberAt(workload, 'spec', 'replicas'))}`;
}

const jobRow: RowOf = (job) => [
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

const cronJobRow: RowOf = (job) => {
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

export const apps: Readonly<Record<string, RowOf>> = {
  controllerrevisions: controllerRevisionRow,
  daemonsets: daemonSetRow,
  deployments: deploymentRow,
  replicasets: replicaSetRow,
  statefulsets: statefulSetRow,
};

export const batch: Readonly<Record<string, RowOf>> = { cronjobs: cronJobRow, jobs: jobRow };
