import type {
  ControllerRevision,
  DaemonSet,
  Deployment,
  ReplicaSet,
  StatefulSet,
} from '../../../../shared/api/types/apps-v1';
import { parseGroupVersion } from '../../../../shared/api/resources';
import { AGE, containerColumns, NAME, WORKLOAD_COLUMNS } from '../columns/common';
import { labelsText, NONE, plainSelectorText } from '../columns/format';
import { tableOf } from '../columns/table';

export const controllerRevisionTable = tableOf<ControllerRevision>([
  NAME,
  { name: 'Controller', cell: controllerOf },
  { name: 'Revision', cell: ({ revision }) => revision },
  AGE,
]);

/** `statefulset.apps/web`. */
function controllerOf({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return NONE;
  const { group } = parseGroupVersion(owner.apiVersion);
  const kind = group === '' ? owner.kind : `${owner.kind}.${group}`;
  return `${kind.toLowerCase()}/${owner.name}`;
}

export const daemonSetTable = tableOf<DaemonSet>([
  NAME,
  { name: 'Desired', type: 'integer', cell: ({ status }) => status?.desiredNumberScheduled ?? 0 },
  { name: 'Current', type: 'integer', cell: ({ status }) => status?.currentNumberScheduled ?? 0 },
  { name: 'Ready', type: 'integer', cell: ({ status }) => status?.numberReady ?? 0 },
  { name: 'Up-to-date', type: 'integer', cell: ({ status }) => status?.updatedNumberScheduled ?? 0 },
  { name: 'Available', type: 'integer', cell: ({ status }) => status?.numberAvailable ?? 0 },
  { name: 'Node Selector', cell: ({ spec }) => labelsText(spec.template.spec.nodeSelector) },
  AGE,
  ...WORKLOAD_COLUMNS,
]);

export const deploymentTable = tableOf<Deployment>([
  NAME,
  { name: 'Ready', cell: readyOfDesired },
  { name: 'Up-to-date', cell: ({ status }) => status?.updatedReplicas ?? 0 },
  { name: 'Available', cell: ({ status }) => status?.availableReplicas ?? 0 },
  AGE,
  ...containerColumns<Deployment>(({ spec }) => spec.template),
  { name: 'Selector', isWide: true, cell: ({ spec }) => plainSelectorText(spec.selector) },
]);

export const replicaSetTable = tableOf<ReplicaSet>([
  NAME,
  { name: 'Desired', type: 'integer', cell: ({ spec }) => spec.replicas ?? 0 },
  { name: 'Current', type: 'integer', cell: ({ status }) => status?.replicas ?? 0 },
  { name: 'Ready', type: 'integer', cell: ({ status }) => status?.readyReplicas ?? 0 },
  AGE,
  ...WORKLOAD_COLUMNS,
]);

export const statefulSetTable = tableOf<StatefulSet>([
  NAME,
  { name: 'Ready', cell: readyOfDesired },
  AGE,
  ...containerColumns<StatefulSet>(({ spec }) => spec.template),
]);

function readyOfDesired({ spec, status }: Deployment | StatefulSet): string {
  return `${String(status?.readyReplicas ?? 0)}/${String(spec.replicas ?? 0)}`;
}
