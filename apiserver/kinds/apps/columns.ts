import type { ApiObject } from '../../../shared/object/object';
import { parseGroupVersion } from '../../../shared/api/resources';
import type { RowOf } from '../columns/cells';
import { containerCells, labelsText, NONE, plainSelectorText, workloadCells } from '../columns/format';
import { ageOf, at, mapAt, nameOf, numberAt } from '../columns/read';

export const controllerRevisionRow: RowOf = (revision) => [
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

export const daemonSetRow: RowOf = (set) => [
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

export const deploymentRow: RowOf = (deployment) => [
  nameOf(deployment),
  readyOfDesired(deployment),
  numberAt(deployment, 'status', 'updatedReplicas'),
  numberAt(deployment, 'status', 'availableReplicas'),
  ageOf(deployment),
  ...containerCells(at(deployment, 'spec', 'template')),
  plainSelectorText(at(deployment, 'spec', 'selector')),
];

export const replicaSetRow: RowOf = (set) => [
  nameOf(set),
  numberAt(set, 'spec', 'replicas'),
  numberAt(set, 'status', 'replicas'),
  numberAt(set, 'status', 'readyReplicas'),
  ageOf(set),
  ...workloadCells(set),
];

export const statefulSetRow: RowOf = (set) => [
  nameOf(set),
  readyOfDesired(set),
  ageOf(set),
  ...containerCells(at(set, 'spec', 'template')),
];

function readyOfDesired(workload: ApiObject): string {
  const ready = numberAt(workload, 'status', 'readyReplicas');
  return `${String(ready)}/${String(numberAt(workload, 'spec', 'replicas'))}`;
}
