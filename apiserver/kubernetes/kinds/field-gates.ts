import { isOnByDefault } from '../../../shared/flags/feature-gate-table';
import type { KindSettings } from '../../engine/registry/strategy';

/**
 * The feature gates of v1.21 that a field or a value needs to be kept or allowed: what is new loses the field, or is refused, while its gate
 * is off, and an object that has it already keeps it where that is upstream's rule too. Among them are those of plugins that add fields.
 */
export const FIELD_GATES = [
  'AnyVolumeDataSource',
  'AppArmor',
  'BoundServiceAccountTokenVolume',
  'ConfigurableFSGroupPolicy',
  'CSIInlineVolume',
  'CSIMigration',
  'CSIServiceAccountToken',
  'CSIStorageCapacity',
  'CSIVolumeFSGroupPolicy',
  'DaemonSetUpdateSurge',
  'DownwardAPIHugePages',
  'DynamicKubeletConfig',
  'EndpointSliceTerminatingCondition',
  'ExpandCSIVolumes',
  'ExpandPersistentVolumes',
  'GenericEphemeralVolume',
  'HPAContainerMetrics',
  'HPAScaleToZero',
  'HugePageStorageMediumSize',
  'IndexedJob',
  'IngressClassNamespacedParams',
  'IPv6DualStack',
  'LocalStorageCapacityIsolation',
  'MixedProtocolLBService',
  'NamespaceDefaultLabelName',
  'NetworkPolicyEndPort',
  'NonPreemptingPriority',
  'PodAffinityNamespaceSelector',
  'PodDeletionCost',
  'PodOverhead',
  'ProbeTerminationGracePeriod',
  'ProcMountType',
  'ServiceInternalTrafficPolicy',
  'ServiceLBNodePortControl',
  'ServiceLoadBalancerClass',
  'ServiceTopology',
  'SetHostnameAsFQDN',
  'StorageObjectInUseProtection',
  'SuspendJob',
  'TopologyAwareHints',
  'TTLAfterFinished',
  'VolumeSubpath',
] as const;

export type FieldGate = (typeof FIELD_GATES)[number];

/** Further ones: those of kinds that are served with their gate alone, and those that the default roles follow. */
export const SERVER_GATES = [
  'APIServerIdentity',
  'ClusterTrustBundle',
  'GenericWorkload',
  'PodCertificateRequest',
  'StorageVersionAPI',
  'StorageVersionMigrator',
] as const;

export type KindGate = FieldGate | (typeof SERVER_GATES)[number];

export function isOn({ gates }: KindSettings, gate: KindGate): boolean {
  return gates?.has(gate) ?? isOnByDefault(gate);
}
