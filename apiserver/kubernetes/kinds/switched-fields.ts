import type { ApiObject } from '../../../shared/object/object';
import { isJsonObject } from '../../../shared/object/clone';
import { ownKeyMap } from '../../../shared/own-key-map';
import { GATES } from '../../../shared/flags/feature-gate-table';
import { ANNOTATION } from '../../../shared/names';
import type { Strategy, SubresourceStrategy, WriteInfo } from '../../engine/registry/strategy';
import { statusSubresource } from '../../engine/registry/strategy';
import type { KindGate } from './field-gates';
import { isOn } from './field-gates';
import { POD_PLACES } from './pod-template/pod-places';

/** A field that is dropped while its gate is off, unless the previous object has it anywhere. */
interface SwitchedField {
  readonly gate: KindGate;
  /** The members from the object to the field; {@link EACH} is each element of a list or map, {@link CONTAINERS} any list of containers, {@link OTHERS} all elements but the first, and a last name that ends in `*` all that begin so. */
  readonly path: readonly string[];
  /** It is lost in new objects only. */
  readonly isFixed?: boolean;
  /** It is written through the status subresource. */
  readonly isStatus?: boolean;
}

const EACH = '[]';
const OTHERS = '[1:]';
const CONTAINERS = '*containers';
const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'];
/** The subresource. */
const STATUS = 'status';

const PROJECTIONS = ['spec', 'volumes', EACH, 'projected', 'sources', EACH];
const SPREADS = ['spec', 'topologySpreadConstraints', EACH];
const PREFERRED_TERMS = ['preferredDuringSchedulingIgnoredDuringExecution', EACH, 'podAffinityTerm'];

/** Of a pod, or a template of pods. */
const OF_PODS: readonly SwitchedField[] = [
  { gate: 'AppArmor', path: ['metadata', 'annotations', `${ANNOTATION.appArmorContainerPrefix}*`] },
  { gate: 'ConfigurableFSGroupPolicy', path: ['spec', 'securityContext', 'fsGroupChangePolicy'] },
  { gate: 'CSIInlineVolume', path: ['spec', 'volumes', EACH, 'csi'] },
  { gate: 'GenericEphemeralVolume', path: ['spec', 'volumes', EACH, 'ephemeral'] },
  { gate: 'LocalStorageCapacityIsolation', path: ['spec', 'volumes', EACH, 'emptyDir', 'sizeLimit'] },
  { gate: 'NonPreemptingPriority', path: ['spec', 'preemptionPolicy'] },
  { gate: 'PodOverhead', path: ['spec', 'overhead'] },
  { gate: 'SetHostnameAsFQDN', path: ['spec', 'setHostnameAsFQDN'] },
  { gate: 'VolumeSubpath', path: ['spec', CONTAINERS, EACH, 'volumeMounts', EACH, 'subPath'] },
  { gate: 'VolumeSubpath', path: ['spec', CONTAINERS, EACH, 'volumeMounts', EACH, 'subPathExpr'] },
  { gate: 'ClusterTrustBundleProjection', path: [...PROJECTIONS, 'clusterTrustBundle'] },
  { gate: 'ContainerRestartRules', path: ['spec', CONTAINERS, EACH, 'restartPolicyRules'] },
  { gate: 'ContainerRestartRules', path: ['spec', 'containers', EACH, 'restartPolicy'] },
  { gate: 'ContainerStopSignals', path: ['spec', CONTAINERS, EACH, 'lifecycle', 'stopSignal'] },
  { gate: 'DynamicResourceAllocation', path: ['spec', 'resourceClaims'] },
  { gate: 'DynamicResourceAllocation', path: ['spec', CONTAINERS, EACH, 'resources', 'claims'] },
  { gate: 'EnvFiles', path: ['spec', CONTAINERS, EACH, 'env', EACH, 'valueFrom', 'fileKeyRef'] },
  { gate: 'GenericWorkload', path: ['spec', 'schedulingGroup'] },
  { gate: 'HostnameOverride', path: ['spec', 'hostnameOverride'] },
  { gate: 'ImageVolume', path: ['spec', 'volumes', EACH, 'image'] },
  { gate: 'InPlacePodVerticalScaling', path: ['spec', CONTAINERS, EACH, 'resizePolicy'] },
  ...['podAffinity', 'podAntiAffinity'].flatMap((affinity): readonly SwitchedField[] =>
    [['requiredDuringSchedulingIgnoredDuringExecution', EACH], [...PREFERRED_TERMS]].flatMap((terms) =>
      ['matchLabelKeys', 'mismatchLabelKeys'].map((keys) => ({
        gate: 'MatchLabelKeysInPodAffinity',
        path: ['spec', 'affinity', affinity, ...terms, keys],
      })),
    ),
  ),
  { gate: 'MatchLabelKeysInPodTopologySpread', path: [...SPREADS, 'matchLabelKeys'] },
  { gate: 'NodeInclusionPolicyInPodTopologySpread', path: [...SPREADS, 'nodeAffinityPolicy'] },
  { gate: 'NodeInclusionPolicyInPodTopologySpread', path: [...SPREADS, 'nodeTaintsPolicy'] },
  { gate: 'PodCertificateRequest', path: [...PROJECTIONS, 'podCertificate'] },
  { gate: 'PodLevelResources', path: ['spec', 'resources'] },
  { gate: 'PodLifecycleSleepAction', path: ['spec', CONTAINERS, EACH, 'lifecycle', 'preStop', 'sleep'] },
  { gate: 'PodLifecycleSleepAction', path: ['spec', CONTAINERS, EACH, 'lifecycle', 'postStart', 'sleep'] },
  {
    gate: 'RecursiveReadOnlyMounts',
    path: ['spec', CONTAINERS, EACH, 'volumeMounts', EACH, 'recursiveReadOnly'],
  },
  { gate: 'SELinuxChangePolicy', path: ['spec', 'securityContext', 'seLinuxChangePolicy'] },
  { gate: 'SidecarContainers', path: ['spec', 'initContainers', EACH, 'restartPolicy'] },
  { gate: 'SupplementalGroupsPolicy', path: ['spec', 'securityContext', 'supplementalGroupsPolicy'] },
  { gate: 'UserNamespacesSupport', path: ['spec', 'hostUsers'] },
];

const TERMINATING_REPLICAS: SwitchedField = {
  gate: 'DeploymentReplicaSetTerminatingReplicas',
  path: ['status', 'terminatingReplicas'],
  isStatus: true,
};

/** Of a group of pods, or a template of groups. */
const OF_POD_GROUPS: readonly SwitchedField[] = [
  { gate: 'DRAWorkloadResourceClaims', path: ['resourceClaims'] },
  { gate: 'TopologyAwareWorkloadScheduling', path: ['schedulingConstraints'] },
  { gate: 'WorkloadAwarePreemption', path: ['disruptionMode'] },
  { gate: 'WorkloadAwarePreemption', path: ['priority*'] },
];

/** By group and resource. Fields of features that are off by default are in the files of their kinds. */
const FIELDS = ownKeyMap<readonly SwitchedField[]>({
  'core/nodes': [
    { gate: 'DynamicKubeletConfig', path: ['spec', 'configSource'] },
    { gate: 'DynamicKubeletConfig', path: ['status', 'config'], isStatus: true },
    { gate: 'IPv6DualStack', path: ['spec', 'podCIDRs', OTHERS] },
  ],
  'core/persistentvolumes': [
    { gate: 'ExpandCSIVolumes', path: ['spec', 'csi', 'controllerExpandSecretRef'] },
  ],
  'core/persistentvolumeclaims': [
    { gate: 'CrossNamespaceVolumeDataSource', path: ['spec', 'dataSourceRef', 'namespace'] },
    { gate: 'ExpandPersistentVolumes', path: ['status', 'conditions'], isStatus: true },
  ],
  'apps/deployments': [TERMINATING_REPLICAS],
  'apps/replicasets': [TERMINATING_REPLICAS],
  'apps/statefulsets': [
    { gate: 'StatefulSetAutoDeletePVC', path: ['spec', 'persistentVolumeClaimRetentionPolicy'] },
    {
      gate: 'MaxUnavailableStatefulSet',
      path: ['spec', 'updateStrategy', 'rollingUpdate', 'maxUnavailable'],
    },
  ],
  'autoscaling/horizontalpodautoscalers': [
    { gate: 'HPAConfigurableTolerance', path: ['spec', 'behavior', 'scaleDown', 'tolerance'] },
    { gate: 'HPAConfigurableTolerance', path: ['spec', 'behavior', 'scaleUp', 'tolerance'] },
  ],
  'batch/jobs': [
    { gate: 'TTLAfterFinished', path: ['spec', 'ttlSecondsAfterFinished'] },
    { gate: 'JobBackoffLimitPerIndex', path: ['spec', 'backoffLimitPerIndex'] },
    { gate: 'JobBackoffLimitPerIndex', path: ['spec', 'maxFailedIndexes'] },
    { gate: 'JobManagedBy', path: ['spec', 'managedBy'] },
    { gate: 'JobPodReplacementPolicy', path: ['spec', 'podReplacementPolicy'] },
    { gate: 'JobSuccessPolicy', path: ['spec', 'successPolicy'] },
  ],
  'core/pods': [
    { gate: 'DRAExtendedResource', path: ['status', 'extendedResourceClaimStatus'], isStatus: true },
    {
      gate: 'DRANodeAllocatableResources',
      path: ['status', 'nodeAllocatableResourceClaimStatuses'],
      isStatus: true,
    },
    {
      gate: 'InPlacePodLevelResourcesVerticalScaling',
      path: ['status', 'allocatedResources'],
      isStatus: true,
    },
    { gate: 'InPlacePodLevelResourcesVerticalScaling', path: ['status', 'resources'], isStatus: true },
  ],
  'coordination/leases': [
    { gate: 'CoordinatedLeaderElection', path: ['spec', 'strategy'] },
    { gate: 'CoordinatedLeaderElection', path: ['spec', 'preferredHolder'] },
  ],
  'discovery/endpointslices': [
    { gate: 'PreferSameTrafficDistribution', path: ['endpoints', EACH, 'hints', 'forNodes'] },
  ],
  'policy/poddisruptionbudgets': [
    { gate: 'PDBUnhealthyPodEvictionPolicy', path: ['spec', 'unhealthyPodEvictionPolicy'] },
  ],
  'node/runtimeclasses': [{ gate: 'PodOverhead', path: ['overhead'], isFixed: true }],
  'policy/podsecuritypolicies': [{ gate: 'CSIInlineVolume', path: ['spec', 'allowedCSIDrivers'] }],
  'resource/deviceclasses': [{ gate: 'DRAExtendedResource', path: ['spec', 'extendedResourceName'] }],
  'resource/resourceclaims': [
    { gate: 'DRAResourceClaimDeviceStatus', path: [STATUS, 'devices'], isStatus: true },
  ],
  'resource/resourceslices': [
    { gate: 'DRAConsumableCapacity', path: ['spec', 'devices', EACH, 'allowMultipleAllocations'] },
    { gate: 'DRADeviceBindingConditions', path: ['spec', 'devices', EACH, 'bindsToNode'] },
    { gate: 'DRADeviceBindingConditions', path: ['spec', 'devices', EACH, 'binding*'] },
    { gate: 'DRADeviceTaints', path: ['spec', 'devices', EACH, 'taints'] },
    ...['bools', 'ints', 'strings', 'versions'].map((list): SwitchedField => ({
      gate: 'DRAListTypeAttributes',
      path: ['spec', 'devices', EACH, 'attributes', EACH, list],
    })),
    {
      gate: 'DRANodeAllocatableResources',
      path: ['spec', 'devices', EACH, 'nodeAllocatableResourceMappings'],
    },
    { gate: 'DRAPartitionableDevices', path: ['spec', 'sharedCounters'] },
    { gate: 'DRAPartitionableDevices', path: ['spec', 'perDeviceNodeSelection'] },
    ...['consumesCounters', 'nodeName', 'nodeSelector', 'allNodes'].map((name): SwitchedField => ({
      gate: 'DRAPartitionableDevices',
      path: ['spec', 'devices', EACH, name],
    })),
  ],
  'scheduling/podgroups': OF_POD_GROUPS.map((field) => ({ ...field, path: ['spec', ...field.path] })),
  'scheduling/workloads': OF_POD_GROUPS.map((field) => ({
    ...field,
    path: ['spec', 'podGroupTemplates', EACH, ...field.path],
  })),
  'scheduling/priorityclasses': [{ gate: 'NonPreemptingPriority', path: ['preemptionPolicy'] }],
  'storage/csidrivers': [
    { gate: 'CSIInlineVolume', path: ['spec', 'volumeLifecycleModes'] },
    { gate: 'CSIServiceAccountToken', path: ['spec', 'requiresRepublish'] },
    { gate: 'CSIServiceAccountToken', path: ['spec', 'tokenRequests'] },
    { gate: 'CSIStorageCapacity', path: ['spec', 'storageCapacity'] },
    { gate: 'CSIVolumeFSGroupPolicy', path: ['spec', 'fsGroupPolicy'] },
    { gate: 'VolumeLimitScaling', path: ['spec', 'preventPodSchedulingIfMissing'] },
  ],
  'storage/storageclasses': [{ gate: 'ExpandPersistentVolumes', path: ['allowVolumeExpansion'] }],
  'storage/volumeattachments': [{ gate: 'CSIMigration', path: ['spec', 'source', 'inlineVolumeSpec'] }],
});

function fieldsOf(resource: string): readonly SwitchedField[] {
  const place = POD_PLACES.get(resource);
  const ofPods = place === undefined ? [] : OF_PODS;
  return [
    ...(FIELDS.get(resource) ?? []),
    ...ofPods.map((field) => ({ ...field, path: [...(place ?? []), ...field.path] })),
  ].filter(({ gate }) => isSwitchable(gate));
}

/** Gates that the API level does not have, or has locked on, drop nothing. */
function isSwitchable(gate: KindGate): boolean {
  const known = GATES.get(gate);
  return known !== undefined && !(known.isLocked && known.default);
}

/**
 * The strategy of a kind that loses fields while features which are on by default are switched off; the strategy itself, if there is no such
 * field. `resource` is named with the package of its group: `apps/deployments`.
 */
export function withSwitchedFields(resource: string, strategy: Strategy | undefined): Strategy | undefined {
  const rows = fieldsOf(resource);
  if (rows.length === 0) return strategy;
  const ofObject = rows.filter(({ isStatus = false }) => !isStatus);
  const ofStatus = rows.filter(({ isStatus = false }) => isStatus);
  const { prepareForCreate, prepareForUpdate, subresources } = strategy ?? {};
  return {
    ...strategy,
    prepareForCreate: (object, info) => keptOf(ofObject, prepareForCreate?.(object, info) ?? object, info),
    prepareForUpdate: (next, previous, info) =>
      keptOf(ofObject, prepareForUpdate?.(next, previous, info) ?? next, info, previous),
    ...(ofStatus.length === 0
      ? {}
      : { subresources: { ...subresources, [STATUS]: keepingStatus(ofStatus, subresources?.[STATUS]) } }),
  };
}

function keepingStatus(
  rows: readonly SwitchedField[],
  status: SubresourceStrategy = statusSubresource,
): SubresourceStrategy {
  return {
    ...status,
    prepareForUpdate: (next, previous, info) =>
      keptOf(rows, status.prepareForUpdate(next, previous, info), info, previous),
  };
}

/** The object itself where nothing is dropped. */
function keptOf(
  rows: readonly SwitchedField[],
  object: ApiObject,
  { settings }: WriteInfo,
  previous?: ApiObject,
): ApiObject {
  let kept = object;
  for (const { gate, path, isFixed = false } of rows) {
    if (isOn(settings, gate)) continue;
    if (previous !== undefined && (isFixed || dropped(previous, path) !== previous)) continue;
    kept = dropped(kept, path);
  }
  return kept;
}

/** A copy without what is at the path; the value itself where nothing is. */
function dropped<T>(value: T, path: readonly string[]): T {
  return droppedAt(value, path) as T;
}

function droppedAt(value: unknown, [step = '', ...rest]: readonly string[]): unknown {
  if (step === EACH) {
    if (isJsonObject(value)) {
      return Object.keys(value).reduce<unknown>((kept, name) => droppedAt(kept, [name, ...rest]), value);
    }
    if (!Array.isArray(value)) return value;
    const kept = value.map((each: unknown) => droppedAt(each, rest));
    return kept.some((each, at) => each !== value[at]) ? kept : value;
  }
  if (step === OTHERS) return Array.isArray(value) && value.length > 1 ? value.slice(0, 1) : value;
  if (step === CONTAINERS) {
    return CONTAINER_LISTS.reduce((kept, list) => droppedAt(kept, [list, ...rest]), value);
  }
  if (!isJsonObject(value)) return value;
  if (rest.length > 0) {
    const inner = value[step];
    const kept = droppedAt(inner, rest);
    return kept === inner ? value : { ...value, [step]: kept };
  }
  const members = Object.entries(value);
  const kept = members.filter(([name]) => !isNamed(name, step));
  return kept.length === members.length ? value : Object.fromEntries(kept);
}

function isNamed(name: string, step: string): boolean {
  return step.endsWith('*') ? name.startsWith(step.slice(0, -1)) : name === step;
}
