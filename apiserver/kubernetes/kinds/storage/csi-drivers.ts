import { isInForce } from '../../../../shared/api/changes';
import type { CSIDriver, CSIDriverSpec, TokenRequest } from '../../../../shared/api/types/storage-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required } from '../../../../shared/errors/field-error';
import { goNoItems, goStrings } from '../../../../shared/errors/go-values';
import { withNextGeneration } from '../../../../shared/meta/generation';
import { deepEqual } from '../../../../shared/object/clone';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { NONE, UNSET } from '../columns/format';
import { tableOf } from '../columns/table';
import { isOn } from '../field-gates';
import type { Kind } from '../kind';
import { choice, forEachItem, repeatsIn } from '../rules/primitives';

const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLE_MODES = ['Persistent', 'Ephemeral'];
const UPDATE_SECONDS_MIN = 10;
const TOKEN_SECONDS_MIN = 600;
const TOKEN_SECONDS_MAX = 2 ** 32;

/** Where only the token requests of a driver are mutable, an update is validated for nothing else. */
const csiDriverRules: Pick<Strategy<CSIDriver>, 'prepareForUpdate' | 'validateNew' | 'validateUpdate'> = {
  /** A driver has no generation before its first change. */
  prepareForUpdate(next, previous) {
    return deepEqual(next.spec, previous.spec) ? next : withNextGeneration(next, previous);
  },
  validateNew: validateSpec,
  validateUpdate: (next, previous) => [
    ...(isInForce('csiDriverChanges') ? CORE_FIXED : FIXED)
      .filter(([name]) => !deepEqual(next.spec[name], previous.spec[name]))
      .map(([name, path]) => invalid(path, fixedInGo(next.spec, name), 'field is immutable')),
    ...(isInForce('csiDriverChanges')
      ? validateSpec(next)
      : validateTokenRequests(next.spec.tokenRequests ?? [])),
  ],
};

function validateSpec({ spec }: CSIDriver): FieldError[] {
  const { attachRequired, podInfoOnMount, fsGroupPolicy: policy } = spec;
  const { nodeAllocatableUpdatePeriodSeconds: period, serviceAccountTokenInSecrets: inSecrets } = spec;
  return [
    // The first path is upstream's.
    ...(attachRequired === undefined ? [required('spec.attachedRequired')] : []),
    ...(podInfoOnMount === undefined ? [required('spec.podInfoOnMount')] : []),
    ...(policy === undefined ? [] : choice(policy, 'spec.fsGroupPolicy', FS_GROUP_POLICIES)),
    ...validateTokenRequests(spec.tokenRequests ?? []),
    ...forEachItem(spec.volumeLifecycleModes ?? [], 'spec', (mode) =>
      choice(mode, 'spec.volumeLifecycleModes', LIFECYCLE_MODES),
    ),
    ...(period === undefined || period >= UPDATE_SECONDS_MIN
      ? []
      : [
          invalid(
            'spec.nodeAllocatableUpdatePeriodSeconds',
            period,
            `must be greater than or equal to ${String(UPDATE_SECONDS_MIN)} seconds`,
          ),
        ]),
    ...(inSecrets === true && (spec.tokenRequests ?? []).length === 0
      ? [
          invalid(
            'spec.serviceAccountTokenInSecrets',
            inSecrets,
            'serviceAccountTokenInSecrets is set but no tokenRequests are specified',
          ),
        ]
      : []),
  ];
}

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

/** The fields that stay immutable. */
const CORE_FIXED = FIXED.filter(([name]) => name === 'attachRequired' || name === 'volumeLifecycleModes');

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

const csiDriverTable = tableOf<CSIDriver>([
  NAME,
  { name: 'AttachRequired', type: 'boolean', cell: ({ spec }) => spec.attachRequired ?? true },
  { name: 'PodInfoOnMount', type: 'boolean', cell: ({ spec }) => spec.podInfoOnMount ?? false },
  { name: 'StorageCapacity', type: 'boolean', cell: ({ spec }) => spec.storageCapacity ?? false },
  {
    name: 'TokenRequests',
    cell: ({ spec }) => spec.tokenRequests?.map(({ audience }) => audience).join(',') ?? UNSET,
  },
  { name: 'RequiresRepublish', type: 'boolean', cell: ({ spec }) => spec.requiresRepublish ?? false },
  { name: 'Modes', cell: ({ spec }) => spec.volumeLifecycleModes?.join(',') ?? NONE },
  AGE,
]);

export const csiDrivers: Kind<CSIDriver> = {
  strategy: {
    compat: { metadataChecks: 'old names', returnsDeletedObject: true },
    requiresResourceVersion: true,
    ...csiDriverRules,
  },
  received: (driver, settings) =>
    driver.spec.seLinuxMount !== undefined || !isOn(settings, 'SELinuxMountReadWriteOncePod')
      ? driver
      : { ...driver, spec: { ...driver.spec, seLinuxMount: false } },
  table: csiDriverTable,
};
