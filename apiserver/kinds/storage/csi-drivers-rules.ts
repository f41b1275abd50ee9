import type { ApiObject } from '../../../shared/object/object';
import type { FieldError } from '../../../shared/errors/field-error';
import { duplicate, invalid, required, tooLong } from '../../../shared/errors/field-error';
import { deepEqual } from '../../../shared/object/clone';
import { qualifiedNameProblems } from '../../../shared/meta/dns-names';
import type { Strategy } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import {
  integer,
  optionalRecord,
  optionalText,
  record,
  records,
  strings,
  text,
} from '../../../shared/object/accessors';
import {
  choice,
  forEachItem,
  inRange,
  invalidForEach,
  noDuplicates,
  nonNegative,
  repeatsIn,
} from '../rules/primitives';
import { csiDriverName } from '../rules/storage-drivers';

const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLE_MODES = ['Persistent', 'Ephemeral'];
const TOKEN_SECONDS_MIN = 600;
const TOKEN_SECONDS_MAX = 2 ** 32;
const NODE_ID_BYTES_MAX = 192;

/** What a driver is never changes, only what tokens it gets. */
export const csiDriverRules: Pick<Strategy, 'validate' | 'validateUpdate'> = {
  validate: (object) => {
    const spec = record(object['spec']);
    const policy = optionalText(spec['fsGroupPolicy']);
    return [
      // The first path is upstream's.
      ...(typeof spec['attachRequired'] === 'boolean' ? [] : [required('spec.attachedRequired')]),
      ...(typeof spec['podInfoOnMount'] === 'boolean' ? [] : [required('spec.podInfoOnMount')]),
      ...(policy === undefined ? [] : choice(policy, 'spec.fsGroupPolicy', FS_GROUP_POLICIES)),
      ...forEachItem(strings(spec['volumeLifecycleModes']), 'spec', (mode) =>
        choice(mode, 'spec.volumeLifecycleModes', LIFECYCLE_MODES),
      ),
      ...validateTokenRequests(records(spec['tokenRequests'])),
    ];
  },
  validateUpdate: (next, previous) =>
    deepEqual(fixedPart(next), fixedPart(previous))
      ? []
      : [invalid('spec', next['spec'], 'field is immutable')],
};

function fixedPart(driver: ApiObject): Json {
  const { tokenRequests: _tokens, requiresRepublish: _republish, ...fixed } = record(driver['spec']);
  return fixed;
}

function validateTokenRequests(requests: readonly Json[]): FieldError[] {
  const audiences = requests.map((request) => text(request['audience']));
  const isRepeated = repeatsIn(audiences);
  return forEachItem(requests, 'spec.tokenRequests', (request, path, index) => {
    const seconds = integer(request['expirationSeconds']);
    return [
      ...(isRepeated(index) ? [duplicate(`${path}.audience`, audiences[index])] : []),
      ...(seconds === undefined
        ? []
        : inRange(seconds, `${path}.expirationSeconds`, { min: TOKEN_SECONDS_MIN, max: TOKEN_SECONDS_MAX })),
    ];
  });
}

/** The drivers of one node: an entry stays as it is for as long as it is there. */
export const csiNodeRules: Pick<Strategy, 'validate' | 'validateUpdate'> = {
  validate: (object) => {
    const drivers = records(record(object['spec'])['drivers']);
    return [
      ...noDuplicates(
        drivers.map((driver) => text(driver['name'])),
        (index) => `spec.drivers[${String(index)}].name`,
      ),
      ...forEachItem(drivers, 'spec.drivers', validateNodeDriver),
    ];
  },
  validateUpdate: (next, previous) => {
    const before = new Map(
      records(record(previous['spec'])['drivers']).map((driver) => [text(driver['name']), driver]),
    );
    return records(record(next['spec'])['drivers']).flatMap((driver) => {
      const old = before.get(text(driver['name']));
      // The path is upstream's.
      return old === undefined || deepEqual(old, driver)
        ? []
        : [invalid('CSINodeDriver', driver, 'field is immutable')];
    });
  },
};

function validateNodeDriver(driver: Json, path: string): FieldError[] {
  const nodeId = text(driver['nodeID']);
  const keys = strings(driver['topologyKeys']);
  const allocatable = optionalRecord(driver['allocatable']);
  const at = `${path}.topologyKeys`;
  return [
    ...csiDriverName(driver['name'], `${path}.name`),
    ...(nodeId === '' ? [required(`${path}.nodeID`)] : []),
    ...(Buffer.byteLength(nodeId) > NODE_ID_BYTES_MAX
      ? [tooLong(`${path}.nodeID`, nodeId, NODE_ID_BYTES_MAX)]
      : []),
    ...(allocatable === undefined ? [] : nonNegative(allocatable['count'], `${path}.allocatable.count`)),
    ...noDuplicates(keys, () => at),
    ...keys.flatMap((key) =>
      key === '' ? [required(at)] : invalidForEach(qualifiedNameProblems(key), key, at),
    ),
  ];
}
