// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Int64, IntOrString, Time } from '../../object/values';
import type { SELinuxOptions } from './core-v1';
import type { Condition, DeleteOptions, LabelSelector, ListMeta, ObjectMeta } from './meta-v1';

/** Asks for a pod to be deleted, unless its disruption budget forbids it. */
export type Eviction = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly deleteOptions?: DeleteOptions;
};

/** How many of the selected pods may be taken away at a time. */
export type PodDisruptionBudget = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: PodDisruptionBudgetSpec;
  readonly status?: PodDisruptionBudgetStatus;
};

/** A list of objects of the kind PodDisruptionBudget. */
export type PodDisruptionBudgetList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly PodDisruptionBudget[] | null;
};

export type PodDisruptionBudgetSpec = {
  readonly minAvailable?: IntOrString;
  readonly selector?: LabelSelector;
  readonly maxUnavailable?: IntOrString;
  readonly unhealthyPodEvictionPolicy?: string;
};

export type PodDisruptionBudgetStatus = {
  readonly observedGeneration?: Int64;
  readonly disruptedPods?: Readonly<Record<string, Time | null>>;
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
  readonly conditions?: readonly Condition[];
};

export type AllowedCSIDriver = {
  readonly name: string;
};

export type AllowedFlexVolume = {
  readonly driver: string;
};

export type AllowedHostPath = {
  readonly pathPrefix?: string;
  readonly readOnly?: boolean;
};

export type FSGroupStrategyOptions = {
  readonly rule?: string;
  readonly ranges?: readonly IDRange[];
};

export type HostPortRange = {
  readonly min: number;
  readonly max: number;
};

export type IDRange = {
  readonly min: Int64;
  readonly max: Int64;
};

/** What pods may ask for. Deprecated. */
export type PodSecurityPolicy = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: PodSecurityPolicySpec;
};

/** A list of objects of the kind PodSecurityPolicy. */
export type PodSecurityPolicyList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly PodSecurityPolicy[] | null;
};

export type PodSecurityPolicySpec = {
  readonly privileged?: boolean;
  readonly defaultAddCapabilities?: readonly string[];
  readonly requiredDropCapabilities?: readonly string[];
  readonly allowedCapabilities?: readonly string[];
  readonly volumes?: readonly string[];
  readonly hostNetwork?: boolean;
  readonly hostPorts?: readonly HostPortRange[];
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly seLinux: SELinuxStrategyOptions;
  readonly runAsUser: RunAsUserStrategyOptions;
  readonly runAsGroup?: RunAsGroupStrategyOptions;
  readonly supplementalGroups: SupplementalGroupsStrategyOptions;
  readonly fsGroup: FSGroupStrategyOptions;
  readonly readOnlyRootFilesystem?: boolean;
  readonly defaultAllowPrivilegeEscalation?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly allowedHostPaths?: readonly AllowedHostPath[];
  readonly allowedFlexVolumes?: readonly AllowedFlexVolume[];
  readonly allowedCSIDrivers?: readonly AllowedCSIDriver[];
  readonly allowedUnsafeSysctls?: readonly string[];
  readonly forbiddenSysctls?: readonly string[];
  readonly allowedProcMountTypes?: readonly string[];
  readonly runtimeClass?: RuntimeClassStrategyOptions;
};

export type RunAsGroupStrategyOptions = {
  readonly rule: string;
  readonly ranges?: readonly IDRange[];
};

export type RunAsUserStrategyOptions = {
  readonly rule: string;
  readonly ranges?: readonly IDRange[];
};

export type RuntimeClassStrategyOptions = {
  readonly allowedRuntimeClassNames: readonly string[] | null;
  readonly defaultRuntimeClassName?: string;
};

export type SELinuxStrategyOptions = {
  readonly rule: string;
  readonly seLinuxOptions?: SELinuxOptions;
};

export type SupplementalGroupsStrategyOptions = {
  readonly rule?: string;
  readonly ranges?: readonly IDRange[];
};
