import { GROUP } from '../../names';

/** One resource of the fake server. */
export interface FakeResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly storageVersionHash?: string;
}

export const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

const row = (group: string, resource: string, kind: string): FakeResource => ({
  group,
  version: 'v1',
  resource,
  kind,
  namespaced: true,
  verbs: ALL_VERBS,
});

export const NAMESPACES: FakeResource = {
  ...row(GROUP.core, 'namespaces', 'Namespace'),
  namespaced: false,
  verbs: ALL_VERBS.filter((verb) => verb !== 'deletecollection'),
};
export const NODES: FakeResource = { ...row(GROUP.core, 'nodes', 'Node'), namespaced: false };
export const PODS = row(GROUP.core, 'pods', 'Pod');
export const CONFIG_MAPS = row(GROUP.core, 'configmaps', 'ConfigMap');
/** As in the real API: services cannot be deleted as a collection. */
export const SERVICES: FakeResource = {
  ...row(GROUP.core, 'services', 'Service'),
  verbs: ALL_VERBS.filter((verb) => verb !== 'deletecollection'),
};
export const CLAIMS = row(GROUP.core, 'persistentvolumeclaims', 'PersistentVolumeClaim');
export const VOLUMES: FakeResource = {
  ...row(GROUP.core, 'persistentvolumes', 'PersistentVolume'),
  namespaced: false,
};
export const ATTRIBUTES_CLASSES: FakeResource = {
  ...row(GROUP.storage, 'volumeattributesclasses', 'VolumeAttributesClass'),
  namespaced: false,
};
export const SERVICE_ACCOUNTS = row(GROUP.core, 'serviceaccounts', 'ServiceAccount');
export const DEPLOYMENTS = row(GROUP.apps, 'deployments', 'Deployment');
export const REPLICA_SETS = row(GROUP.apps, 'replicasets', 'ReplicaSet');
export const LEASES = row(GROUP.coordination, 'leases', 'Lease');

export const FAKE_RESOURCES: readonly FakeResource[] = [
  NAMESPACES,
  NODES,
  PODS,
  CONFIG_MAPS,
  SERVICES,
  DEPLOYMENTS,
  REPLICA_SETS,
  LEASES,
  CLAIMS,
  VOLUMES,
  ATTRIBUTES_CLASSES,
  SERVICE_ACCOUNTS,
];
