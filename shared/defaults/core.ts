import { isInForce } from '../api/changes';
import type { Part } from '../object/object';
import type {
  LimitRangeItem,
  NodeSpec,
  ReplicationController,
  ServiceSpec,
  PersistentVolumeSpec,
  RBDPersistentVolumeSource,
  RBDVolumeSource,
  ScaleIOPersistentVolumeSource,
  ScaleIOVolumeSource,
} from '../api/types/core-v1';
import type { DefaultsTable, MessageDefaults } from './contract';

const STICKY_SECONDS = 10_800;

/** Defaults of the core group without pods and volumes. */
export const CORE: DefaultsTable = {
  'core/v1.EndpointPort': { values: { protocol: 'TCP' } },
  'core/v1.LimitRangeItem': { derive: ofLimits },
  'core/v1.NamespaceStatus': { values: { phase: 'Active' } },
  'core/v1.NodeSpec': { derive: ofNode },
  'core/v1.NodeStatus': {
    derive: ({ capacity, allocatable }) =>
      capacity !== undefined && allocatable === undefined ? { allocatable: capacity } : undefined,
  },
  'core/v1.ReplicationController': { derive: ofReplicationController },
  'core/v1.ReplicationControllerSpec': { values: { replicas: 1 } },
  'core/v1.Secret': { values: { type: 'Opaque' } },
  'core/v1.ServiceSpec': { values: { sessionAffinity: 'None', type: 'ClusterIP' }, derive: ofService },
  'core/v1.ServicePort': {
    values: { protocol: 'TCP' },
    derive: ({ targetPort, port }) =>
      targetPort === 0 || targetPort === '' ? { targetPort: port } : undefined,
  },
};

/** `podCIDR` is the first of `podCIDRs`; where they differ, it takes precedence. */
function ofNode({ podCIDR: first = '', podCIDRs: networks = [] }: NodeSpec): Part<NodeSpec> | undefined {
  if (first === (networks[0] ?? '')) return undefined;
  return first === '' ? { podCIDR: networks[0] ?? '' } : { podCIDRs: [first] };
}

function ofService(spec: ServiceSpec): Part<ServiceSpec> {
  const isOutside =
    spec.type === 'NodePort' ||
    spec.type === 'LoadBalancer' ||
    (spec.type === 'ClusterIP' &&
      (spec.externalIPs ?? []).length > 0 &&
      isInForce('externallyAccessibleServices'));
  const needsPolicy = isOutside && (spec.externalTrafficPolicy ?? '') === '';
  return {
    ...ofAffinity(spec),
    ...(needsPolicy ? { externalTrafficPolicy: 'Cluster' } : {}),
  };
}

function ofAffinity({ sessionAffinity, sessionAffinityConfig }: ServiceSpec): Part<ServiceSpec> {
  if (sessionAffinity === 'None') {
    return sessionAffinityConfig === undefined ? {} : { sessionAffinityConfig: undefined };
  }
  if (sessionAffinity !== 'ClientIP') return {};
  if (sessionAffinityConfig?.clientIP?.timeoutSeconds !== undefined) return {};
  return { sessionAffinityConfig: { clientIP: { timeoutSeconds: STICKY_SECONDS } } };
}

/** The template's labels are the default selector and labels of the controller. */
function ofReplicationController({
  metadata,
  spec,
}: ReplicationController): Part<ReplicationController> | undefined {
  const labels = spec.template?.metadata.labels;
  if (labels === undefined) return undefined;
  return {
    ...(hasMembers(metadata.labels) ? {} : { metadata: { ...metadata, labels } }),
    ...(hasMembers(spec.selector) ? {} : { spec: { ...spec, selector: labels } }),
  };
}

function hasMembers(map: object = {}): boolean {
  return Object.keys(map).length > 0;
}

/** For containers the limit defaults to the maximum, and the request to the limit or the minimum. */
function ofLimits(item: LimitRangeItem): Part<LimitRangeItem> | undefined {
  if (item.type !== 'Container') return undefined;
  const limit = { ...item.max, ...item.default };
  const defaultRequest = { ...item.min, ...limit, ...item.defaultRequest };
  // An empty map is omitted from responses, so that an update that repeats a response changes nothing.
  return {
    ...(hasMembers(limit) ? { default: limit } : {}),
    ...(hasMembers(defaultRequest) ? { defaultRequest } : {}),
  };
}

/** Default mode of files in volumes, rw-r--r--. */
const FILE_MODE = 0o644;

const files: MessageDefaults<{ readonly defaultMode?: number }> = { values: { defaultMode: FILE_MODE } };
const iscsi: MessageDefaults<{ readonly iscsiInterface?: string }> = {
  values: { iscsiInterface: 'default' },
};
const rbd: MessageDefaults<RBDPersistentVolumeSource | RBDVolumeSource> = {
  values: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
};
const scaleIo: MessageDefaults<ScaleIOPersistentVolumeSource | ScaleIOVolumeSource> = {
  values: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
};

/** Defaults of volumes of pods, persistent volumes and claims. */
export const CORE_VOLUMES: DefaultsTable = {
  'core/v1.Volume': {
    derive: (volume) =>
      Object.entries(volume).every(
        ([name, value]) => name === 'name' || value === undefined || value === null,
      )
        ? { emptyDir: {} }
        : undefined,
  },
  'core/v1.SecretVolumeSource': files,
  'core/v1.ConfigMapVolumeSource': files,
  'core/v1.DownwardAPIVolumeSource': files,
  'core/v1.ProjectedVolumeSource': files,
  'core/v1.ServiceAccountTokenProjection': { values: { expirationSeconds: 3600 } },
  'core/v1.HostPathVolumeSource': { values: { type: '' } },
  'core/v1.ISCSIVolumeSource': iscsi,
  'core/v1.ISCSIPersistentVolumeSource': iscsi,
  'core/v1.RBDVolumeSource': rbd,
  'core/v1.RBDPersistentVolumeSource': rbd,
  'core/v1.ScaleIOVolumeSource': scaleIo,
  'core/v1.ScaleIOPersistentVolumeSource': scaleIo,
  'core/v1.AzureDiskVolumeSource': {
    values: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
  },
  // An inline volume of a VolumeAttachment gets no defaults.
  'core/v1.PersistentVolume': {
    derive: ({ spec }) => {
      const left = defaultsOfVolume(spec);
      return Object.keys(left).length === 0 ? undefined : { spec: { ...spec, ...left } };
    },
  },
  'core/v1.PersistentVolumeStatus': { values: { phase: 'Pending' } },
  'core/v1.PersistentVolumeClaimSpec': { values: { volumeMode: 'Filesystem' } },
  'core/v1.PersistentVolumeClaimStatus': { values: { phase: 'Pending' } },
};

function defaultsOfVolume({
  persistentVolumeReclaimPolicy: policy = '',
  volumeMode,
}: PersistentVolumeSpec): Part<PersistentVolumeSpec> {
  return {
    ...(policy === '' ? { persistentVolumeReclaimPolicy: 'Retain' } : {}),
    ...(volumeMode === undefined ? { volumeMode: 'Filesystem' } : {}),
  };
}
