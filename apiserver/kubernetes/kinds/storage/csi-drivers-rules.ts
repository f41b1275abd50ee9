import { withNextGeneration } from '../../../../shared/meta/generation';
import type {
  CSIDriver,
  CSIDriverSpec,
  CSINode,
  CSINodeDriver,
  TokenRequest,
} from '../../../../shared/api/types/storage-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import type { GoValue } from '../../../../shared/errors/go-values';
import { goNoItems, goStrings, goStruct } from '../../../../shared/errors/go-values';
import { deepEqual } from '../../../../shared/object/clone';
import { emptiedIn } from '../../../../shared/schema/emptied';
import { qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import type { Strategy } from '../../../engine/registry/strategy';
import { choice, forEachItem, invalidForEach, nonNegative, repeatsIn } from '../rules/primitives';
import { csiDriverName } from '../rules/storage-drivers';

const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLE_MODES = ['Persistent', 'Ephemeral'];
const TOKEN_SECONDS_MIN = 600;
const TOKEN_SECONDS_MAX = 2 ** 32;
const NODE_ID_BYTES_MAX = 128;
/** For a node that has a longer one already; v1.22 lets all have it. */
const LONG_NODE_ID_BYTES_MAX = 192;

/** What a driver is never changes, only what tokens it gets, so that an update is asked about nothing else. */
export const csiDriverRules: Pick<
  Strategy<CSIDriver>,
  'prepareForUpdate' | 'validateNew' | 'validateUpdate'
> = {
  /** A driver has no generation before its first change. */
  prepareForUpdate(next, previous) {
    return deepEqual(next.spec, previous.spec) ? next : withNextGeneration(next, previous);
  },
  validateNew: ({ spec }) => {
    const { attachRequired, podInfoOnMount, fsGroupPolicy: policy } = spec;
    return [
      // The first path is upstream's.
      ...(attachRequired === undefined ? [required('spec.attachedRequired')] : []),
      ...(podInfoOnMount === undefined ? [required('spec.podInfoOnMount')] : []),
      ...(policy === undefined ? [] : choice(policy, 'spec.fsGroupPolicy', FS_GROUP_POLICIES)),
      ...validateTokenRequests(spec.tokenRequests ?? []),
      ...forEachItem(spec.volumeLifecycleModes ?? [], 'spec', (mode) =>
        choice(mode, 'spec.volumeLifecycleModes', LIFECYCLE_MODES),
      ),
    ];
  },
  validateUpdate: (next, previous) => [
    ...FIXED.filter(([name]) => !deepEqual(next.spec[name], previous.spec[name])).map(([name, path]) =>
      invalid(path, fixedInGo(next.spec, name), 'field is immutable'),
    ),
    ...validateTokenRequests(next.spec.tokenRequests ?? []),
  ],
};

type Fixed =
  'attachRequired' | 'fsGroupPolicy' | 'podInfoOnMount' | 'volumeLifecycleModes' | 'storageCapacity';

/** In upstream's order; the first path is upstream's as well. */
const FIXED: readonly (readonly [name: Fixed, path: string])[] = [
  ['attachRequired', 'spec.attachedRequired'],
  ['fsGroupPolicy', 'spec.fsGroupPolicy'],
  ['podInfoOnMount', 'spec.podInfoOnMount'],
  ['volumeLifecycleModes', 'spec.volumeLifecycleModes'],
  ['storageCapacity', 'spec.storageCapacity'],
];

function fixedInGo(spec: CSIDriverSpec, name: Fixed): unknown {
  const value = spec[name];
  if (name !== 'volumeLifecycleModes') return value ?? null;
  const type = 'storage.VolumeLifecycleMode';
  return Array.isArray(value) && value.length > 0
    ? goStrings(value as readonly string[], type)
    : goNoItems(type);
}

function validateTokenRequests(requests: readonly TokenRequest[]): FieldError[] {
  const audiences = requests.map(({ audience }) => audience);
  const isRepeated = repeatsIn(audiences);
  return forEachItem(
    requests,
    'spec.tokenRequests',
    ({ audience, expirationSeconds: seconds }, path, index) => [
      ...(isRepeated(index)
        ? [duplicate(`${path}.audience`, audience)]
        : tokenLifetime(seconds, `${path}.expirationSeconds`)),
    ],
  );
}

function tokenLifetime(seconds: number | bigint | undefined, path: string): FieldError[] {
  if (seconds === undefined) return [];
  if (seconds < TOKEN_SECONDS_MIN) {
    return [invalid(path, seconds, 'may not specify a duration less than 10 minutes')];
  }
  return seconds > TOKEN_SECONDS_MAX
    ? [invalid(path, seconds, 'may not specify a duration larger than 2^32 seconds')]
    : [];
}

/** The drivers of one node: an entry stays as it is for as long as it is there. */
export const csiNodeRules: Pick<Strategy<CSINode>, 'validateNew' | 'validateUpdate'> = {
  validateNew: (object) => validateNodeDrivers(object, NODE_ID_BYTES_MAX),
  validateUpdate: (next, previous) => {
    const wasLong = (previous.spec.drivers ?? []).some((each) => isNodeIdLonger(each, NODE_ID_BYTES_MAX));
    const faults = validateNodeDrivers(next, wasLong ? LONG_NODE_ID_BYTES_MAX : NODE_ID_BYTES_MAX);
    const isEmptied = emptiedIn(next, 'spec').has('topologyKeys');
    const before = new Map((previous.spec.drivers ?? []).map((driver) => [driver.name, driver]));
    const changes = (next.spec.drivers ?? []).flatMap((driver) => {
      const old = before.get(driver.name);
      // The path is upstream's.
      return old === undefined || deepEqual(old, driver)
        ? []
        : [invalid('CSINodeDriver', inGo(driver, isEmptied), 'field is immutable')];
    });
    return [...faults, ...changes];
  },
};

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
