import type { KindSettings } from '../registry/strategy';

/**
 * The feature gates of v1.21, all off by default, that a field or a value needs to be kept or allowed: what is new loses the field, or is
 * refused, while its gate is off, and an object that has it already keeps it where that is upstream's rule too.
 */
export const FIELD_GATES = [
  'AnyVolumeDataSource',
  'DaemonSetUpdateSurge',
  'EndpointSliceTerminatingCondition',
  'HPAContainerMetrics',
  'HPAScaleToZero',
  'IndexedJob',
  'IngressClassNamespacedParams',
  'MixedProtocolLBService',
  'NetworkPolicyEndPort',
  'PodAffinityNamespaceSelector',
  'ProbeTerminationGracePeriod',
  'ProcMountType',
  'ServiceInternalTrafficPolicy',
  'ServiceLBNodePortControl',
  'ServiceLoadBalancerClass',
  'ServiceTopology',
  'SuspendJob',
  'TopologyAwareHints',
] as const;

export type FieldGate = (typeof FIELD_GATES)[number];

export function isOn({ gates }: KindSettings, gate: FieldGate): boolean {
  return gates?.has(gate) ?? false;
}
