import { isInForce } from '../../../../shared/api/changes';
import { posix } from 'node:path';
import type {
  PersistentVolume,
  PersistentVolumeSpec,
  VolumeNodeAffinity,
} from '../../../../shared/api/types/core-v1';
import { describeDiff } from '../../../../shared/errors/describe-diff';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { goStruct, GoValue } from '../../../../shared/errors/go-values';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { ANNOTATION } from '../../../../shared/names';
import { isZero, keysOf } from '../../../../shared/object/accessors';
import { deepEqual } from '../../../../shared/object/clone';
import type { ObjectMeta } from '../../../../shared/object/object';
import type { Quantity } from '../../../../shared/object/values';
import { getEmptiedFields } from '../../../../shared/schema/emptied';
import { formatTime } from '../../../../shared/meta/time';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource, withStatus } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { phaseOf, UNSET } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { validateNodeSelector } from '../pod-template/affinity';
import { validateAccessModes as validateModes, VOLUME_MODES } from '../pod-template/claim-template';
import { oneSource } from '../pod-template/volume-sources';
import { membersOf } from '../rules/members';
import { choice, forEachItem, immutable, optionalForm } from '../rules/primitives';
import { basicResource, positiveQuantity } from '../rules/resource-lists';
import { ISCSI_NAME_TOO_LONG, isLongIscsiName } from '../rules/storage-drivers';
import { PERSISTENT_SOURCES } from './persistent-volume-sources';

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];

/** The source of a volume is immutable; its capacity and claim are not. */
const persistentVolumeRules: Pick<
  Strategy<PersistentVolume>,
  'prepareForCreate' | 'validate' | 'validateUpdate'
> = {
  prepareForCreate: (volume) => ({ ...volume, status: { phase: 'Pending' } }),
  validate: validateVolume,
  validateUpdate: (next, previous) => validateChange(next.spec, previous.spec),
};

function validateVolume(volume: PersistentVolume): FieldError[] {
  const { metadata, spec } = volume;
  const { accessModes: modes = [], persistentVolumeReclaimPolicy: policy = '', volumeMode } = spec;
  return [
    ...validateAccessModes(modes, 'spec'),
    ...validateCapacity(spec.capacity, getEmptiedFields(volume, 'spec').has('capacity')),
    ...(policy === '' ? [] : choice(policy, 'spec.persistentVolumeReclaimPolicy', RECLAIM_POLICIES)),
    ...(spec.nodeAffinity === undefined ? [] : validateNodeAffinity(spec.nodeAffinity)),
    ...volumeSource(spec, 'spec', metadata.name ?? ''),
    ...rootIsNotRecycled(spec, 'spec'),
    ...optionalForm(spec.storageClassName, 'spec.storageClassName', dns1123SubdomainProblems),
    ...(volumeMode === undefined ? [] : choice(volumeMode, 'spec.volumeMode', VOLUME_MODES)),
    ...validateAttributesClass(spec),
  ];
}

/** Only CSI drivers know classes of attributes. */
function validateAttributesClass({
  volumeAttributesClassName: name,
  csi,
}: PersistentVolumeSpec): FieldError[] {
  if (name === undefined) return [];
  const path = 'spec.volumeAttributesClassName';
  return [
    ...(name === '' ? [required(path, 'an empty string is disallowed')] : []),
    ...optionalForm(name, path, dns1123SubdomainProblems),
    ...(csi === undefined
      ? [required('spec.csi', 'has to be specified when using volumeAttributesClassName')]
      : []),
  ];
}

/** Validates the volume spec inside an attachment: a CSI volume without a claim, a reclaim policy or node affinity. */
export function validateInlineVolumeSpec(spec: PersistentVolumeSpec, path: string): FieldError[] {
  const { csi, accessModes: modes = [], persistentVolumeReclaimPolicy: policy = '', volumeMode } = spec;
  return [
    ...notInline(spec.claimRef !== undefined, `${path}.claimRef`),
    ...notInline(!isZero(spec.capacity), `${path}.capacity`),
    ...(csi === undefined
      ? [required(`${path}.csi`, 'has to be specified in the context of inline volumes')]
      : []),
    ...validateAccessModes(modes, path),
    ...(policy === '' || policy === 'Retain'
      ? []
      : [
          forbiddenField(
            `${path}.persistentVolumeReclaimPolicy`,
            'may only be Retain in the context of inline volumes',
          ),
        ]),
    ...notInline(spec.nodeAffinity !== undefined, `${path}.nodeAffinity`),
    ...volumeSource(spec, path, ''),
    ...rootIsNotRecycled(spec, path),
    ...notInline(!isZero(spec.storageClassName), `${path}.storageClassName`),
    ...(volumeMode === undefined || volumeMode === 'Filesystem'
      ? []
      : [
          forbiddenField(
            `${path}.volumeMode`,
            'may not specify volumeMode other than Filesystem in the context of inline volumes',
          ),
        ]),
  ];
}

/** What says how a volume is claimed, and where from. */
function notInline(isGiven: boolean, path: string): FieldError[] {
  return isGiven ? [forbiddenField(path, 'may not be specified in the context of inline volumes')] : [];
}

function validateAccessModes(modes: readonly string[], path: string): FieldError[] {
  return [
    ...(modes.length === 0 ? [required(`${path}.accessModes`)] : []),
    ...validateModes(modes, `${path}.accessModes`),
  ];
}

function validateCapacity(
  capacity: Readonly<Record<string, Quantity>> | undefined = {},
  isEmptied: boolean,
): FieldError[] {
  const path = 'spec.capacity';
  const names = Object.keys(capacity);
  const shown = isEmptied ? 'core.ResourceList{}' : 'core.ResourceList(nil)';
  const capacityInGo = names.length === 0 ? new GoValue(() => shown) : capacity;
  return [
    ...(names.length === 0 ? [required(path)] : []),
    ...(names.length === 1 && names[0] === 'storage' ? [] : [notSupported(path, capacityInGo, ['storage'])]),
    ...forEachItem(Object.entries(capacity), path, ([name, value]) => [
      ...basicResource(value, `${path}[${name}]`),
      ...positiveQuantity(value, `${path}[${name}]`),
    ]),
  ];
}

function validateNodeAffinity({ required: selector }: VolumeNodeAffinity): FieldError[] {
  const path = 'spec.nodeAffinity.required';
  return selector === undefined
    ? [required(path, 'must specify required node constraints')]
    : validateNodeSelector(selector, path);
}

/** As upstream, a second source is not validated, except a flex volume, which in turn is not reported as surplus. */
function volumeSource(spec: PersistentVolumeSpec, path: string, name: string): FieldError[] {
  const [first, ...others] = membersOf(spec, PERSISTENT_SOURCES);
  const { flexVolume, ...withoutFlex } = spec;
  const isLateFlex = flexVolume !== undefined && others.includes('flexVolume');
  return [
    ...(first === 'iscsi' ? longIscsiName(name, spec, path) : []),
    ...oneSource(isLateFlex ? withoutFlex : spec, path, PERSISTENT_SOURCES),
    ...(isLateFlex ? PERSISTENT_SOURCES.flexVolume(flexVolume, `${path}.flexVolume`) : []),
    ...(first === 'local' ? localIsSomewhere(spec, path) : []),
  ];
}

function longIscsiName(name: string, { iscsi }: PersistentVolumeSpec, at: string): FieldError[] {
  return isLongIscsiName(name, iscsi)
    ? [invalid(`${at}.iscsi.targetportal`, iscsi?.targetPortal, ISCSI_NAME_TOO_LONG)]
    : [];
}

function localIsSomewhere({ local, nodeAffinity }: PersistentVolumeSpec, at: string): FieldError[] {
  return local !== undefined && nodeAffinity === undefined
    ? [required(`${at}.nodeAffinity`, 'Local volume requires node affinity')]
    : [];
}

function rootIsNotRecycled(spec: PersistentVolumeSpec, at: string): FieldError[] {
  const path = spec.hostPath?.path ?? '';
  if (spec.persistentVolumeReclaimPolicy !== 'Recycle' || posix.normalize(path) !== '/') return [];
  return [
    forbiddenField(`${at}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'"),
  ];
}

const PERSISTENT_TYPES = keysOf(PERSISTENT_SOURCES);
const SOURCE_CHANGED = 'spec.persistentvolumesource is immutable after creation';

/** The paths are upstream's. */
function validateChange(after: PersistentVolumeSpec, before: PersistentVolumeSpec): FieldError[] {
  const now = withoutNewExpandSecret(after, before);
  const moved = PERSISTENT_TYPES.filter((type) => !deepEqual(now[type], before[type]));
  const { nodeAffinity: affinity } = before;
  return [
    ...(moved.length === 0
      ? []
      : [forbiddenField('spec.persistentvolumesource', `${SOURCE_CHANGED}${whatMoved(moved, now, before)}`)]),
    ...immutable(after.volumeMode, before.volumeMode, 'volumeMode'),
    ...(isZero(affinity) || deepEqual(after.nodeAffinity, affinity)
      ? []
      : [invalid('nodeAffinity', affinityInGo(after.nodeAffinity), 'field is immutable')]),
  ];
}

function whatMoved(
  types: readonly (keyof PersistentVolumeSpec)[],
  after: PersistentVolumeSpec,
  before: PersistentVolumeSpec,
): string {
  const of = (spec: PersistentVolumeSpec) => Object.fromEntries(types.map((type) => [type, spec[type]]));
  return describeDiff('spec', of(after), of(before));
}

/** Upstream shows no more of it than whether it says anything, with an address in memory. */
function affinityInGo(affinity: VolumeNodeAffinity | undefined): GoValue | undefined {
  if (affinity === undefined) return undefined;
  const isNone = (affinity.required ?? null) === null;
  return goStruct('core.VolumeNodeAffinity', { Required: `(*core.NodeSelector)(${isNone ? 'nil' : '0x0'})` });
}

/** The secret with which a CSI volume grows may be added later. */
function withoutNewExpandSecret(
  after: PersistentVolumeSpec,
  before: PersistentVolumeSpec,
): PersistentVolumeSpec {
  const isNew =
    after.csi?.controllerExpandSecretRef !== undefined &&
    before.csi !== undefined &&
    before.csi.controllerExpandSecretRef === undefined;
  if (!isNew) return after;
  const { controllerExpandSecretRef: _added, ...csi } = after.csi;
  return { ...after, csi };
}

const persistentVolumeTable = tableOf<PersistentVolume>([
  NAME,
  { name: 'Capacity', cell: ({ spec }) => spec.capacity?.['storage'] ?? '0' },
  { name: 'Access Modes', cell: ({ spec }) => accessModes(spec.accessModes) },
  { name: 'Reclaim Policy', cell: ({ spec }) => spec.persistentVolumeReclaimPolicy ?? '' },
  { name: 'Status', cell: phaseOf },
  { name: 'Claim', cell: claimOf },
  { name: 'StorageClass', cell: storageClassOf },
  ...(isInForce('volumeAttributesColumns')
    ? [
        {
          name: 'VolumeAttributesClass',
          cell: ({ spec }: PersistentVolume) => spec.volumeAttributesClassName ?? UNSET,
        },
      ]
    : []),
  { name: 'Reason', cell: ({ status }) => status?.reason ?? '' },
  AGE,
  { name: 'VolumeMode', isWide: true, cell: ({ spec }) => spec.volumeMode ?? UNSET },
]);

const SHORT_MODES: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

export function accessModes(modes: readonly string[] = []): string {
  return SHORT_MODES.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

function claimOf({ spec: { claimRef } }: PersistentVolume): string {
  return claimRef === undefined ? '' : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`;
}

/** The class of a volume or claim; the annotation of the time before the field wins. */
export function storageClassOf({
  metadata,
  spec,
}: {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly storageClassName?: string };
}): string {
  return metadata.annotations?.[ANNOTATION.betaStorageClass] ?? spec.storageClassName ?? '';
}

/** A volume remembers when its phase changed, unless the client says when. Source: the strategies of v1.36. */
const phaseTimes: Pick<Strategy<PersistentVolume>, 'prepareForCreate' | 'subresources'> = {
  prepareForCreate: (volume, { nowMs }) =>
    withStatus(volume, { phase: 'Pending', lastPhaseTransitionTime: formatTime(nowMs) }),
  subresources: {
    status: {
      ...statusSubresource,
      prepareForUpdate(next, previous, { nowMs }) {
        const changed = statusSubresource.prepareForUpdate(next, previous);
        const { status: { phase, lastPhaseTransitionTime: time, ...status } = {} } = changed;
        const before = previous.status?.lastPhaseTransitionTime;
        const isSame = phase === previous.status?.phase;
        const kept = isSame
          ? (time ?? before)
          : time === undefined || time === before
            ? formatTime(nowMs)
            : time;
        return withStatus(changed, {
          ...(phase === undefined ? {} : { phase }),
          ...status,
          ...(kept === undefined ? {} : { lastPhaseTransitionTime: kept }),
        });
      },
    },
  },
};

export const persistentVolumes: Kind<PersistentVolume> = {
  strategy: {
    compat: { returnsDeletedObject: true },
    ...persistentVolumeRules,
    ...(isInForce('phaseTransitionTimes') ? phaseTimes : {}),
  },
  table: persistentVolumeTable,
};
