import type {
  Counter,
  CounterSet,
  Device,
  DeviceCounterConsumption,
  ResourcePool,
  ResourceSlice,
  ResourceSliceSpec,
} from '../../../../shared/api/types/resource-v1';
import type { NodeSelector } from '../../../../shared/api/types/core-v1';
import { RESOURCE_SLICE } from '../../../../shared/conversion/resource';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, notFoundField, required } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { parseQuantity } from '../../../../shared/meta/quantity';
import { deepEqual } from '../../../../shared/object/clone';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { nodeSelectorValues, validateNodeSelector } from '../pod-template/affinity';
import { isNativeResource } from '../pod-template/resource-requirements';
import { immutable, invalidForEach } from '../rules/primitives';
import { attributeValueCount, hasListValues, validateAttribute, validateCapacity } from './device-attributes';
import {
  attributeName,
  bindingConditions,
  deviceName,
  deviceTaint,
  driverName,
  poolName,
  withTimeAdded,
} from './device-names';
import { limitedList, limitedMap, limitedSet } from './lists';

const DEVICES_MAX = 128;
/** A device with taints, counters or lists of values takes more room. */
const LARGE_DEVICES_MAX = 64;
const COUNTER_SETS_MAX = 8;
const COUNTERS_MAX = 32;
const CONSUMPTIONS_MAX = 2;
const TAINTS_MAX = 16;
const ATTRIBUTES_MAX = 32;
const ATTRIBUTE_VALUES_MAX = 48;

/** The devices that one driver offers on a node, or on several. */
const resourceSliceRules: Pick<
  Strategy<ResourceSlice>,
  'prepareForCreate' | 'prepareForUpdate' | 'validateNew' | 'validateUpdate'
> = {
  prepareForCreate: (object, { nowMs }) => withTaintTimes(object, nowMs),
  prepareForUpdate: (next, _previous, { nowMs }) => withTaintTimes(next, nowMs),
  validateNew: ({ spec }) => validateSpec(spec),
  validateUpdate: ({ spec }, { spec: before }) => [
    ...immutable(spec.pool.name, before.pool.name, 'spec.pool.name'),
    ...immutable(spec.driver, before.driver, 'spec.driver'),
    ...immutable(spec.nodeName, before.nodeName, 'spec.nodeName'),
    ...validateSpec(spec, before),
  ],
};

function withTaintTimes(object: ResourceSlice, nowMs: number): ResourceSlice {
  const { devices } = object.spec;
  if (devices === undefined) return object;
  const timed = devices.map((device) =>
    device.taints === undefined
      ? device
      : { ...device, taints: device.taints.map((taint) => withTimeAdded(taint, nowMs)) },
  );
  return { ...object, spec: { ...object.spec, devices: timed } };
}

function validateSpec(spec: ResourceSliceSpec, before?: ResourceSliceSpec): FieldError[] {
  const { devices, sharedCounters } = spec;
  const previous = new Map((before?.devices ?? []).map((device) => [device.name, device]));
  const max = (devices ?? []).some(isLarge) ? LARGE_DEVICES_MAX : DEVICES_MAX;
  return [
    ...driverName(spec.driver, 'spec.driver'),
    ...validatePool(spec.pool, 'spec.pool'),
    ...validateNodes(spec),
    ...(sharedCounters !== undefined && devices !== undefined
      ? [invalid('spec', '', 'only one of `sharedCounters` or `devices` is allowed')]
      : []),
    ...limitedSet(devices, 'spec.devices', {
      max,
      rule: (device, path) => [
        ...validateDevice(device, path, previous.get(device.name)),
        ...validateDeviceNodes(device, path, spec.perDeviceNodeSelection === true),
      ],
      keyOf: ({ name }) => name,
    }),
    ...limitedSet(sharedCounters, 'spec.sharedCounters', {
      max: COUNTER_SETS_MAX,
      rule: validateCounterSet,
      keyOf: ({ name }) => name,
    }),
  ];
}

function isLarge({ taints = [], consumesCounters = [], attributes = {} }: Device): boolean {
  return taints.length + consumesCounters.length > 0 || Object.values(attributes).some(hasListValues);
}

function validatePool(
  { name, resourceSliceCount: slices, generation }: ResourcePool,
  path: string,
): FieldError[] {
  return [
    ...poolName(name, `${path}.name`),
    ...(slices > 0 ? [] : [invalid(`${path}.resourceSliceCount`, slices, 'must be greater than zero')]),
    ...(generation >= 0
      ? []
      : [invalid(`${path}.generation`, generation, 'must be greater than or equal to zero')]),
  ];
}

interface Nodes {
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly allNodes?: boolean;
}

const ONE_OF = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';

function validateNodes(spec: ResourceSliceSpec): FieldError[] {
  const { nodeSelector, perDeviceNodeSelection: perDevice } = spec;
  const terms = nodeSelector?.nodeSelectorTerms ?? [];
  const given = [...nodeFieldsOf(spec), ...(perDevice === true ? ['`perDeviceNodeSelection`'] : [])];
  return [
    ...validateNodeFields(spec, 'spec', 'must be either unset or set to a non-empty string'),
    ...(nodeSelector === undefined || terms.length === 1
      ? []
      : [invalid('spec.nodeSelector.nodeSelectorTerms', terms, 'must have exactly one node selector term')]),
    ...(perDevice === false
      ? [invalid('spec.perDeviceNodeSelection', perDevice, 'must be either unset or set to true')]
      : []),
    ...(given.length === 0 ? [required('spec', ONE_OF)] : []),
    ...(given.length > 1
      ? [invalid('spec', `{${given.join(', ')}}`, `${ONE_OF}, but multiple fields are set`)]
      : []),
  ];
}

function validateDeviceNodes(device: Device, path: string, isPerDevice: boolean): FieldError[] {
  const { nodeName, nodeSelector, allNodes } = device;
  if (!isPerDevice) {
    const only =
      '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
    const isGiven = nodeName !== undefined || nodeSelector !== undefined || allNodes !== undefined;
    return isGiven ? [invalid(path, undefined, only)] : [];
  }
  const given = nodeFieldsOf(device);
  const why =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  return [
    ...validateNodeFields(device, path, 'must not be empty'),
    ...(given.length === 0 ? [required(path, why)] : []),
    ...(given.length > 1 ? [invalid(path, `{${given.join(', ')}}`, why)] : []),
  ];
}

/** The fields that say which nodes have the device, without those of no effect. */
function nodeFieldsOf({ nodeName = '', nodeSelector, allNodes }: Nodes): readonly string[] {
  return [
    ...(nodeName === '' ? [] : ['`nodeName`']),
    ...(nodeSelector === undefined ? [] : ['`nodeSelector`']),
    ...(allNodes === true ? ['`allNodes`'] : []),
  ];
}

function validateNodeFields(
  { nodeName, nodeSelector, allNodes }: Nodes,
  path: string,
  notEmpty: string,
): FieldError[] {
  return [
    ...(nodeName === '' ? [invalid(`${path}.nodeName`, nodeName, notEmpty)] : []),
    ...(nodeName === undefined || nodeName === ''
      ? []
      : invalidForEach(dns1123SubdomainProblems(nodeName), nodeName, `${path}.nodeName`)),
    ...(nodeSelector === undefined
      ? []
      : [
          ...validateNodeSelector(nodeSelector, `${path}.nodeSelector`),
          ...nodeSelectorValues(nodeSelector, `${path}.nodeSelector`),
        ]),
    ...(allNodes === false
      ? [invalid(`${path}.allNodes`, allNodes, 'must be either unset or set to true')]
      : []),
  ];
}

/** The taints of a device that an update leaves as they are stay valid. */
function validateDevice(device: Device, path: string, previous: Device | undefined): FieldError[] {
  const { attributes = {}, capacity = {}, taints, consumesCounters } = device;
  const names = Object.keys(attributes).length + Object.keys(capacity).length;
  const values = Object.values(attributes).reduce((sum, each) => sum + attributeValueCount(each), 0);
  const isShared = device.allowMultipleAllocations === true;
  return [
    ...deviceName(device.name, `${path}.name`),
    ...atMost(names, path, { max: ATTRIBUTES_MAX, what: 'attributes and capacities' }),
    ...atMost(values, path, { max: ATTRIBUTE_VALUES_MAX, what: 'attribute values' }),
    ...limitedMap(attributes, `${path}.attributes`, {
      max: Infinity,
      keyRule: attributeName,
      rule: validateAttribute,
    }),
    ...limitedMap(capacity, `${path}.capacity`, {
      max: Infinity,
      keyRule: attributeName,
      rule: (each, at) => validateCapacity(each, at, isShared),
    }),
    ...(previous !== undefined && deepEqual(previous.taints, taints)
      ? []
      : limitedList(taints, `${path}.taints`, {
          max: TAINTS_MAX,
          rule: (taint, at) => deviceTaint(taint, at),
        })),
    ...limitedSet(consumesCounters, `${path}.consumesCounters`, {
      max: CONSUMPTIONS_MAX,
      rule: validateConsumption,
      keyOf: ({ counterSet }) => counterSet,
    }),
    ...bindingConditions(device, path),
    ...validateMappings(device, `${path}.nodeAllocatableResourceMappings`),
  ];
}

function atMost(
  count: number,
  path: string,
  { max, what }: { readonly max: number; readonly what: string },
): FieldError[] {
  return count > max
    ? [invalid(path, count, `the total number of ${what} must not exceed ${String(max)}`)]
    : [];
}

function validateCounterSet({ name, counters }: CounterSet, path: string): FieldError[] {
  return [
    ...(name === '' ? [required(`${path}.name`)] : deviceName(name, `${path}.name`)),
    ...validateCounters(counters, `${path}.counters`),
  ];
}

function validateConsumption({ counterSet, counters }: DeviceCounterConsumption, path: string): FieldError[] {
  return [
    ...(counterSet === '' ? [required(`${path}.counterSet`)] : deviceName(counterSet, `${path}.counterSet`)),
    ...validateCounters(counters, `${path}.counters`),
  ];
}

/** Every quantity is a valid value. */
function validateCounters(
  counters: Readonly<Record<string, Counter>> | undefined,
  path: string,
): FieldError[] {
  return Object.keys(counters ?? {}).length === 0
    ? [required(path)]
    : limitedMap(counters, path, { max: COUNTERS_MAX, keyRule: deviceName, rule: () => [] });
}

function validateMappings(
  { nodeAllocatableResourceMappings: mappings, capacity = {} }: Device,
  path: string,
): FieldError[] {
  return Object.entries(mappings ?? {}).flatMap(
    ([name, { capacityKey: key, allocationMultiplier: factor }]) => {
      const at = `${path}[${name}]`;
      const isPositive = factor === undefined || (parseQuantity(factor)?.unscaled ?? 0n) > 0n;
      return [
        ...(isNativeResource(name) ? [] : [invalid(at, name, 'must be a node allocatable resource name')]),
        ...(key === undefined && factor === undefined
          ? [invalid(at, '', 'at least one of allocationMultiplier or capacityKey must be set')]
          : []),
        ...(isPositive ? [] : [invalid(`${at}.allocationMultiplier`, factor, 'must be positive')]),
        ...(key === '' ? [invalid(`${at}.capacityKey`, '', 'capacityKey must not be an empty string')] : []),
        ...(key === undefined || key === '' || Object.hasOwn(capacity, key)
          ? []
          : [notFoundField(`${at}.capacityKey`, key)]),
      ];
    },
  );
}

export const resourceSlices: Kind<ResourceSlice> = {
  strategy: {
    tracksGeneration: true,
    readsOtherVersion: RESOURCE_SLICE,
    compat: { returnsDeletedObject: true },
    selectableFields: { 'spec.nodeName': '', 'spec.driver': '' },
    ...resourceSliceRules,
  },
  table: tableOf<ResourceSlice>([
    NAME,
    { name: 'Node', cell: ({ spec }) => spec.nodeName ?? '' },
    { name: 'Driver', cell: ({ spec }) => spec.driver },
    { name: 'Pool', cell: ({ spec }) => spec.pool.name },
    AGE,
  ]),
};
