import { isInForce } from '../../../../shared/api/changes';
import type { CSINode, CSINodeDriver } from '../../../../shared/api/types/storage-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import type { GoValue } from '../../../../shared/errors/go-values';
import { goNoItems, goStrings, goStruct } from '../../../../shared/errors/go-values';
import { qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import { deepEqual } from '../../../../shared/object/clone';
import { getEmptiedFields } from '../../../../shared/schema/emptied';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import { isOn } from '../field-gates';
import type { Kind } from '../kind';
import { forEachItem, invalidForEach, nonNegative, repeatsIn } from '../rules/primitives';
import { csiDriverName } from '../rules/storage-drivers';

const NODE_ID_BYTES_MAX = isInForce('longNodeIds') ? 256 : 128;

/** For a node that has a longer one already. */
const LONG_NODE_ID_BYTES_MAX = Math.max(NODE_ID_BYTES_MAX, 192);

/** The drivers of one node: an entry stays as it is for as long as it is there. */
const csiNodeRules: Pick<Strategy<CSINode>, 'validateNew' | 'validateUpdate'> = {
  validateNew: (object) => validateNodeDrivers(object, NODE_ID_BYTES_MAX),
  validateUpdate: (next, previous, { settings }) => {
    const wasLong = (previous.spec.drivers ?? []).some((each) => isNodeIdLonger(each, NODE_ID_BYTES_MAX));
    const faults = validateNodeDrivers(next, wasLong ? LONG_NODE_ID_BYTES_MAX : NODE_ID_BYTES_MAX);
    const isEmptied = getEmptiedFields(next, 'spec').has('topologyKeys');
    const before = new Map((previous.spec.drivers ?? []).map((driver) => [driver.name, driver]));
    const changes = (next.spec.drivers ?? []).flatMap((driver) => {
      const old = before.get(driver.name);
      if (old === undefined || isSameDriver(old, driver, isOn(settings, 'MutableCSINodeAllocatableCount')))
        return [];
      // The older path is upstream's.
      const path = isInForce('csiNodeDriverPaths') ? 'spec.drivers' : 'CSINodeDriver';
      return [invalid(path, inGo(driver, isEmptied), 'field is immutable')];
    });
    return [...faults, ...changes];
  },
};

function isSameDriver(
  { allocatable: before, ...old }: CSINodeDriver,
  { allocatable: after, ...next }: CSINodeDriver,
  mayChangeCount: boolean,
): boolean {
  return deepEqual(old, next) && (mayChangeCount || deepEqual(before ?? {}, after ?? {}));
}

function validateNodeDrivers({ spec }: CSINode, nodeIdBytesMax: number): FieldError[] {
  const drivers = spec.drivers ?? [];
  const isRepeated = repeatsIn(drivers.map(({ name }) => name));
  return forEachItem(drivers, 'spec.drivers', (driver, path, index) =>
    validateNodeDriver(driver, path, { isSecond: isRepeated(index), nodeIdBytesMax }),
  );
}

function isNodeIdLonger({ nodeID: nodeId }: CSINodeDriver, bytesMax: number): boolean {
  return Buffer.byteLength(nodeId) > bytesMax;
}

/** What holds a pointer is shown as JSON; `isEmptied`: an empty list of keys was sent. */
function inGo(driver: CSINodeDriver, isEmptied: boolean): GoValue | CSINodeDriver {
  const { name, nodeID: nodeId, topologyKeys, allocatable } = driver;
  if (allocatable !== undefined) return driver;
  const keys = topologyKeys ?? [];
  return goStruct('storage.CSINodeDriver', {
    Name: goQuote(name),
    NodeID: goQuote(nodeId),
    TopologyKeys: String(keys.length === 0 && !isEmptied ? goNoItems('string') : goStrings(keys)),
    Allocatable: '(*storage.VolumeNodeResources)(nil)',
  });
}

function validateNodeDriver(
  driver: CSINodeDriver,
  path: string,
  { isSecond, nodeIdBytesMax }: { readonly isSecond: boolean; readonly nodeIdBytesMax: number },
): FieldError[] {
  const { name, nodeID: nodeId, allocatable } = driver;
  const keys = driver.topologyKeys ?? [];
  const isRepeated = repeatsIn(keys);
  return [
    ...csiDriverName(name, `${path}.name`),
    ...(nodeId === '' ? [required(`${path}.nodeID`)] : []),
    // The text names the lower bound, also where the higher one holds.
    ...(isNodeIdLonger(driver, nodeIdBytesMax)
      ? [invalid(`${path}.nodeID`, nodeId, `must be ${String(NODE_ID_BYTES_MAX)} characters or less`)]
      : []),
    ...(allocatable === undefined ? [] : nonNegative(allocatable.count, `${path}.allocatable.count`)),
    ...(isSecond ? [duplicate(`${path}.name`, name)] : []),
    // Upstream names the driver where a key is wrong.
    ...forEachItem(keys, path, (key, _at, index) => [
      ...(key === '' ? [required(path)] : []),
      ...(isRepeated(index) ? [duplicate(path, key)] : []),
      ...invalidForEach(qualifiedNameProblems(key), keys, path),
    ]),
  ];
}

const csiNodeTable = tableOf<CSINode>([
  NAME,
  { name: 'Drivers', type: 'integer', cell: ({ spec }) => spec.drivers?.length ?? 0 },
  AGE,
]);

export const csiNodes: Kind<CSINode> = {
  strategy: { requiresResourceVersion: true, compat: { returnsDeletedObject: true }, ...csiNodeRules },
  table: csiNodeTable,
};
