// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Int64, Quantity, Time } from '../../object/values';
import type { NodeSelector } from './core-v1';
import type { Condition, ListMeta, ObjectMeta } from './meta-v1';

export type AllocatedDeviceStatus = {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string;
  readonly conditions: readonly Condition[] | null;
  readonly data?: unknown;
  readonly networkData?: NetworkDeviceData;
};

export type AllocationResult = {
  readonly devices: DeviceAllocationResult;
  readonly nodeSelector?: NodeSelector;
  readonly allocationTimestamp?: Time;
};

export type CELDeviceSelector = {
  readonly expression: string;
};

export type CapacityRequestPolicy = {
  readonly default: Quantity | null;
  readonly validValues?: readonly Quantity[];
  readonly validRange?: CapacityRequestPolicyRange;
};

export type CapacityRequestPolicyRange = {
  readonly min?: Quantity;
  readonly max?: Quantity;
  readonly step?: Quantity;
};

export type CapacityRequirements = {
  readonly requests?: Readonly<Record<string, Quantity>>;
};

export type Counter = {
  readonly value: Quantity;
};

export type CounterSet = {
  readonly name: string;
  readonly counters?: Readonly<Record<string, Counter>>;
};

export type Device = {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, DeviceAttribute>>;
  readonly capacity?: Readonly<Record<string, DeviceCapacity>>;
  readonly consumesCounters?: readonly DeviceCounterConsumption[];
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly allNodes?: boolean;
  readonly taints?: readonly DeviceTaint[];
  readonly bindsToNode?: boolean;
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly allowMultipleAllocations?: boolean;
  readonly nodeAllocatableResourceMappings?: Readonly<Record<string, NodeAllocatableResourceMapping>>;
};

export type DeviceAllocationConfiguration = {
  readonly source: string;
  readonly requests?: readonly string[];
  readonly opaque?: OpaqueDeviceConfiguration;
};

export type DeviceAllocationResult = {
  readonly results?: readonly DeviceRequestAllocationResult[];
  readonly config?: readonly DeviceAllocationConfiguration[];
};

export type DeviceAttribute = {
  readonly int?: Int64;
  readonly bool?: boolean;
  readonly string?: string;
  readonly version?: string;
  readonly ints?: readonly Int64[];
  readonly bools?: readonly boolean[];
  readonly strings?: readonly string[];
  readonly versions?: readonly string[];
};

export type DeviceCapacity = {
  readonly value: Quantity;
  readonly requestPolicy?: CapacityRequestPolicy;
};

export type DeviceClaim = {
  readonly requests: readonly DeviceRequest[] | null;
  readonly constraints?: readonly DeviceConstraint[];
  readonly config?: readonly DeviceClaimConfiguration[];
};

export type DeviceClaimConfiguration = {
  readonly requests?: readonly string[];
  readonly opaque?: OpaqueDeviceConfiguration;
};

export type DeviceClass = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: DeviceClassSpec;
};

export type DeviceClassConfiguration = {
  readonly opaque?: OpaqueDeviceConfiguration;
};

/** A list of objects of the kind DeviceClass. */
export type DeviceClassList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly DeviceClass[] | null;
};

export type DeviceClassSpec = {
  readonly selectors?: readonly DeviceSelector[];
  readonly config?: readonly DeviceClassConfiguration[];
  readonly extendedResourceName?: string;
};

export type DeviceConfiguration = {
  readonly opaque?: OpaqueDeviceConfiguration;
};

export type DeviceConstraint = {
  readonly requests?: readonly string[];
  readonly matchAttribute?: string;
  readonly distinctAttribute?: string;
};

export type DeviceCounterConsumption = {
  readonly counterSet: string;
  readonly counters?: Readonly<Record<string, Counter>>;
};

export type DeviceRequest = {
  readonly name: string;
  readonly exactly?: ExactDeviceRequest;
  readonly firstAvailable?: readonly DeviceSubRequest[];
};

export type DeviceRequestAllocationResult = {
  readonly request: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly adminAccess?: boolean;
  readonly tolerations?: readonly DeviceToleration[];
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly shareID?: string;
  readonly consumedCapacity?: Readonly<Record<string, Quantity>>;
};

export type DeviceSelector = {
  readonly cel?: CELDeviceSelector;
};

export type DeviceSubRequest = {
  readonly name: string;
  readonly deviceClassName: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly allocationMode?: string;
  readonly count?: Int64;
  readonly tolerations?: readonly DeviceToleration[];
  readonly capacity?: CapacityRequirements;
};

export type DeviceTaint = {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: Time;
};

export type DeviceTaintRule = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: DeviceTaintRuleSpec;
  readonly status?: DeviceTaintRuleStatus;
};

/** A list of objects of the kind DeviceTaintRule. */
export type DeviceTaintRuleList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly DeviceTaintRule[] | null;
};

export type DeviceTaintRuleSpec = {
  readonly deviceSelector?: DeviceTaintSelector;
  readonly taint: DeviceTaint;
};

export type DeviceTaintRuleStatus = {
  readonly conditions?: readonly Condition[];
};

export type DeviceTaintSelector = {
  readonly driver?: string;
  readonly pool?: string;
  readonly device?: string;
};

export type DeviceToleration = {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: Int64;
};

export type ExactDeviceRequest = {
  readonly deviceClassName: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly allocationMode?: string;
  readonly count?: Int64;
  readonly adminAccess?: boolean;
  readonly tolerations?: readonly DeviceToleration[];
  readonly capacity?: CapacityRequirements;
};

export type NetworkDeviceData = {
  readonly interfaceName?: string;
  readonly ips?: readonly string[];
  readonly hardwareAddress?: string;
};

export type NodeAllocatableResourceMapping = {
  readonly capacityKey?: string;
  readonly allocationMultiplier?: Quantity;
};

export type OpaqueDeviceConfiguration = {
  readonly driver: string;
  readonly parameters: unknown;
};

export type ResourceClaim = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ResourceClaimSpec;
  readonly status?: ResourceClaimStatus;
};

export type ResourceClaimConsumerReference = {
  readonly apiGroup?: string;
  readonly resource: string;
  readonly name: string;
  readonly uid: string;
};

/** A list of objects of the kind ResourceClaim. */
export type ResourceClaimList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly ResourceClaim[] | null;
};

export type ResourceClaimSpec = {
  readonly devices: DeviceClaim;
};

export type ResourceClaimStatus = {
  readonly allocation?: AllocationResult;
  readonly reservedFor?: readonly ResourceClaimConsumerReference[];
  readonly devices?: readonly AllocatedDeviceStatus[];
};

export type ResourceClaimTemplate = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ResourceClaimTemplateSpec;
};

/** A list of objects of the kind ResourceClaimTemplate. */
export type ResourceClaimTemplateList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly ResourceClaimTemplate[] | null;
};

export type ResourceClaimTemplateSpec = {
  readonly metadata: ObjectMeta;
  readonly spec: ResourceClaimSpec;
};

export type ResourcePool = {
  readonly name: string;
  readonly generation: Int64;
  readonly resourceSliceCount: Int64;
};

export type ResourceSlice = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ResourceSliceSpec;
};

/** A list of objects of the kind ResourceSlice. */
export type ResourceSliceList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly ResourceSlice[] | null;
};

export type ResourceSliceSpec = {
  readonly driver: string;
  readonly pool: ResourcePool;
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly allNodes?: boolean;
  readonly devices?: readonly Device[];
  readonly perDeviceNodeSelection?: boolean;
  readonly sharedCounters?: readonly CounterSet[];
};
