// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Int64, Time } from '../../object/values';
import type { Condition, ListMeta, ObjectMeta } from './meta-v1';

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

export type PoolStatus = {
  readonly driver?: string;
  readonly poolName?: string;
  readonly generation: Int64;
  readonly resourceSliceCount?: number;
  readonly totalDevices?: number;
  readonly allocatedDevices?: number;
  readonly availableDevices?: number;
  readonly unavailableDevices?: number;
  readonly nodeName?: string;
  readonly validationError?: string;
};

export type ResourcePoolStatusRequest = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ResourcePoolStatusRequestSpec;
  readonly status?: ResourcePoolStatusRequestStatus;
};

/** A list of objects of the kind ResourcePoolStatusRequest. */
export type ResourcePoolStatusRequestList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly ResourcePoolStatusRequest[] | null;
};

export type ResourcePoolStatusRequestSpec = {
  readonly driver: string;
  readonly poolName?: string;
  readonly limit?: number;
};

export type ResourcePoolStatusRequestStatus = {
  readonly poolCount?: number;
  readonly pools?: readonly PoolStatus[];
  readonly conditions?: readonly Condition[];
};
