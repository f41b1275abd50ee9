import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from '../../../../shared/api/types/resource-v1';
import { RESOURCE_CLAIM } from '../../../../shared/conversion/resource';
import type { FieldError } from '../../../../shared/errors/field-error';
import {
  forbiddenField,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../../../shared/errors/field-error';
import { deepEqual } from '../../../../shared/object/clone';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { nodeSelectorValues, validateNodeSelector } from '../pod-template/affinity';
import { validateConditions } from '../rules/conditions';
import { immutable, needed } from '../rules/primitives';
import { interfaceAddress } from '../rules/strict-addresses';
import type { RequestNames } from './device-claims';
import {
  CONFIG_MAX,
  requestNamesOf,
  requestReference,
  requestReferences,
  validateConfiguration,
  validateDeviceClaim,
} from './device-claims';
import { SelectorValidator } from './device-selectors';
import { bindingConditions, deviceName, driverData, driverName, poolName, shareId } from './device-names';
import { limitedList, limitedSet } from './lists';

const RESERVED_MAX = 256;
const RESULTS_MAX = 32;
const DEVICE_CONDITIONS_MAX = 8;
const DEVICE_DATA_BYTES_MAX = 10 * 1024;
const INTERFACE_NAME_BYTES_MAX = 256;
const HARDWARE_ADDRESS_BYTES_MAX = 128;
const ADDRESSES_MAX = 16;

/** A claim of devices: the spec never changes, and neither does an allocation until it is removed. */
const resourceClaimRules: Pick<Strategy<ResourceClaim>, 'validateNew' | 'validateUpdate' | 'subresources'> = {
  validateNew: ({ spec }, info) =>
    validateDeviceClaim(spec.devices, 'spec.devices', new SelectorValidator(info)),
  validateUpdate: (next, previous) => immutable(next.spec, previous.spec, 'spec'),
  subresources: {
    status: {
      ...statusSubresource,
      prepareForUpdate: (next, previous) =>
        withoutDeallocated(statusSubresource.prepareForUpdate(next, previous), previous),
      validateUpdate: validateStatus,
    },
  },
};

/** Removes the status of the devices that this update deallocates. */
function withoutDeallocated(next: ResourceClaim, previous: ResourceClaim): ResourceClaim {
  const { devices = [], ...status } = next.status ?? {};
  const freed = new Set(allocatedIn(previous.status));
  for (const id of allocatedIn(next.status)) freed.delete(id);
  const kept = devices.filter((each) => !freed.has(deviceId(each)));
  if (kept.length === devices.length) return next;
  return { ...next, status: { ...status, ...(kept.length === 0 ? {} : { devices: kept }) } };
}

function allocatedIn(status: ResourceClaimStatus | undefined): readonly string[] {
  return (status?.allocation?.devices.results ?? []).map(deviceId);
}

function deviceId({
  driver,
  pool,
  device,
  shareID: share = '',
}: Pick<AllocatedDeviceStatus, 'driver' | 'pool' | 'device' | 'shareID'>): string {
  return `${driver}/${pool}/${device}${share === '' ? '' : `/${share}`}`;
}

function validateStatus(next: ResourceClaim, previous: ResourceClaim): FieldError[] {
  const { allocation, reservedFor = [], devices } = next.status ?? {};
  const { allocation: before, reservedFor: reservedBefore = [] } = previous.status ?? {};
  const allocated = new Set(allocatedIn(next.status));
  const isAdded = reservedFor.some((each) => !reservedBefore.some((other) => deepEqual(each, other)));
  const isDeleted = next.metadata.deletionTimestamp !== undefined;
  const path = 'status.reservedFor';
  return [
    ...limitedSet(reservedFor, path, { max: RESERVED_MAX, rule: validateConsumer, keyOf: ({ uid }) => uid }),
    ...limitedSet(devices, 'status.devices', {
      max: Infinity,
      rule: (device, at) => validateDeviceStatus(device, at, allocated),
      keyOf: deviceId,
    }),
    ...(reservedFor.length > 0 && allocation === undefined
      ? [forbiddenField(path, 'may not be specified when `allocated` is not set')]
      : []),
    ...(allocation !== undefined && isDeleted && isAdded
      ? [
          forbiddenField(
            path,
            'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
          ),
        ]
      : []),
    ...(allocation === undefined
      ? []
      : before === undefined
        ? validateAllocation(allocation, 'status.allocation', requestNamesOf(next.spec.devices))
        : immutable(allocation, before, 'status.allocation')),
  ];
}

function validateConsumer(consumer: ResourceClaimConsumerReference, path: string): FieldError[] {
  return (['resource', 'name', 'uid'] as const).flatMap((field) =>
    needed(consumer[field], `${path}.${field}`),
  );
}

function validateDeviceStatus(
  device: AllocatedDeviceStatus,
  path: string,
  allocated: ReadonlySet<string>,
): FieldError[] {
  const conditions = device.conditions ?? [];
  return [
    ...driverName(device.driver, `${path}.driver`),
    ...poolName(device.pool, `${path}.pool`),
    ...deviceName(device.device, `${path}.device`),
    ...shareId(device.shareID, `${path}.shareID`),
    ...(allocated.has(deviceId(device))
      ? []
      : [invalid(path, deviceId(device), 'must be an allocated device in the claim')]),
    ...(conditions.length > DEVICE_CONDITIONS_MAX
      ? [tooMany(`${path}.conditions`, conditions.length, DEVICE_CONDITIONS_MAX)]
      : []),
    ...validateConditions(conditions, `${path}.conditions`),
    ...(device.data === undefined
      ? []
      : driverData(device.data, `${path}.data`, { bytesMax: DEVICE_DATA_BYTES_MAX, isStored: false })),
    ...(device.networkData === undefined
      ? []
      : validateNetworkData(device.networkData, `${path}.networkData`)),
  ];
}

function validateNetworkData(
  { interfaceName = '', hardwareAddress = '', ips }: NetworkDeviceData,
  path: string,
): FieldError[] {
  return [
    ...atMost(interfaceName, `${path}.interfaceName`, INTERFACE_NAME_BYTES_MAX),
    ...atMost(hardwareAddress, `${path}.hardwareAddress`, HARDWARE_ADDRESS_BYTES_MAX),
    ...limitedSet(ips, `${path}.ips`, { max: ADDRESSES_MAX, rule: interfaceAddress, keyOf: (ip) => ip }),
  ];
}

function atMost(value: string, path: string, bytesMax: number): FieldError[] {
  return Buffer.byteLength(value) > bytesMax ? [tooLong(path, value, bytesMax)] : [];
}

function validateAllocation(
  { devices, nodeSelector }: AllocationResult,
  path: string,
  names: RequestNames,
): FieldError[] {
  return [
    ...limitedList(devices.results, `${path}.devices.results`, {
      max: RESULTS_MAX,
      rule: (result, at) => validateResult(result, at, names),
    }),
    ...limitedList(devices.config, `${path}.devices.config`, {
      max: 2 * CONFIG_MAX,
      rule: (config, at) => validateAllocatedConfig(config, at, names),
    }),
    ...(nodeSelector === undefined
      ? []
      : [
          ...validateNodeSelector(nodeSelector, `${path}.nodeSelector`),
          ...nodeSelectorValues(nodeSelector, `${path}.nodeSelector`),
        ]),
  ];
}

function validateResult(
  result: DeviceRequestAllocationResult,
  path: string,
  names: RequestNames,
): FieldError[] {
  return [
    ...requestReference(result.request, `${path}.request`, names),
    ...driverName(result.driver, `${path}.driver`),
    ...poolName(result.pool, `${path}.pool`),
    ...deviceName(result.device, `${path}.device`),
    ...bindingConditions(result, path),
    ...shareId(result.shareID, `${path}.shareID`),
  ];
}

const SOURCES = ['FromClaim', 'FromClass'];

function validateAllocatedConfig(
  config: DeviceAllocationConfiguration,
  path: string,
  names: RequestNames,
): FieldError[] {
  const { source } = config;
  return [
    ...(source === '' ? [required(`${path}.source`)] : []),
    ...(source === '' || SOURCES.includes(source) ? [] : [notSupported(`${path}.source`, source, SOURCES)]),
    ...requestReferences(config.requests, `${path}.requests`, names),
    ...validateConfiguration(config, path),
  ];
}

function stateOf({ metadata, status }: ResourceClaim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  if (status?.allocation === undefined) return isDeleted ? 'deleted' : 'pending';
  return [
    ...(isDeleted ? ['deleted'] : []),
    'allocated',
    ...((status.reservedFor ?? []).length > 0 ? ['reserved'] : []),
  ].join(',');
}

export const resourceClaims: Kind<ResourceClaim> = {
  strategy: {
    statusLeavesMetadata: true,
    compat: { returnsDeletedObject: true },
    readsOtherVersion: RESOURCE_CLAIM,
    ...resourceClaimRules,
  },
  table: tableOf<ResourceClaim>([NAME, { name: 'State', cell: stateOf }, AGE]),
};
