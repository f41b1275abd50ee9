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
  'ClearingNominatedNodeNameAfterBinding',
  'ClusterTrustBundleProjection',
  'ConfigurableFSGroupPolicy',
  'ContainerRestartRules',
  'ContainerStopSignals',
  'CSIInlineVolume',
  'CSIMigration',
  'CSIServiceAccountToken',
  'CSIStorageCapacity',
  'CSIVolumeFSGroupPolicy',
  'DaemonSetUpdateSurge',
  'DeploymentReplicaSetTerminatingReplicas',
  'DownwardAPIHugePages',
  'DRAExtendedResource',
  'DRANodeAllocatableResources',
  'DynamicKubeletConfig',
  'DynamicResourceAllocation',
  'EndpointSliceTerminatingCondition',
  'EnvFiles',
  'ExpandCSIVolumes',
  'ExpandPersistentVolumes',
  'GenericEphemeralVolume',
  'HostnameOverride',
  'HPAConfigurableTolerance',
  'HPAContainerMetrics',
  'HPAScaleToZero',
  'HugePageStorageMediumSize',
  'ImageVolume',
  'IndexedJob',
  'IngressClassNamespacedParams',
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScaling',
  'InPlacePodVerticalScalingInitContainers',
  'IPv6DualStack',
  'JobBackoffLimitPerIndex',
  'JobManagedBy',
  'JobPodReplacementPolicy',
  'JobSuccessPolicy',
  'LocalStorageCapacityIsolation',
  'MatchLabelKeysInPodAffinity',
  'MatchLabelKeysInPodTopologySpread',
  'MatchLabelKeysInPodTopologySpreadSelectorMerge',
  'MaxUnavailableStatefulSet',
  'MixedProtocolLBService',
  'MutablePodResourcesForSuspendedJobs',
  'MutableSchedulingDirectivesForSuspendedJobs',
  'NamespaceDefaultLabelName',
  'NetworkPolicyEndPort',
  'NodeInclusionPolicyInPodTopologySpread',
  'NonPreemptingPriority',
  'PDBUnhealthyPodEvictionPolicy',
  'PodAffinityNamespaceSelector',
  'PodDeletionCost',
  'PodLevelResources',
  'PodLifecycleSleepAction',
  'PodOverhead',
  'ProbeTerminationGracePeriod',
  'ProcMountType',
  'RecursiveReadOnlyMounts',
  'SELinuxChangePolicy',
  'ServiceInternalTrafficPolicy',
  'ServiceLBNodePortControl',
  'ServiceLoadBalancerClass',
  'ServiceTopology',
  'SetHostnameAsFQDN',
  'SidecarContainers',
  'StorageObjectInUseProtection',
  'SupplementalGroupsPolicy',
  'SuspendJob',
  'TopologyAwareHints',
  'TTLAfterFinished',
  'UserNamespacesSupport',
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
