import { isInForce } from '../../../../shared/api/changes';
import type { PersistentVolumeClaim } from '../../../../shared/api/types/core-v1';
import { describeDiff } from '../../../../shared/errors/describe-diff';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, notSupported } from '../../../../shared/errors/field-error';
import { qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import { compareQuantity } from '../../../../shared/meta/quantity';
import { ANNOTATION, SNAPSHOT_GROUP } from '../../../../shared/names';
import type { ReadonlyJson } from '../../../../shared/object/json';
import type { ObjectMeta } from '../../../../shared/object/object';
import type { Quantity } from '../../../../shared/object/values';
import { isSemanticallyEqual } from '../../../../shared/schema/same-meaning';
import { messageType } from '../../../../shared/schema/types';
import type { KindSettings, Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { phaseOf, UNSET } from '../columns/format';
import { tableOf } from '../columns/table';
import { isOn } from '../field-gates';
import type { Kind } from '../kind';
import { STORAGE, validateClaimSpec } from '../pod-template/claim-template';
import { quantityOf } from '../pod-template/resource-requirements';
import { immutable, invalidForEach } from '../rules/primitives';
import { basicResource } from '../rules/resource-lists';
import { accessModes, storageClassOf } from './persistent-volumes';

/** A claim's spec stays as it is, but for the volume that it gets and, once it has one, a larger size. */
const persistentVolumeClaimRules: Pick<
  Strategy<PersistentVolumeClaim>,
  'prepareForCreate' | 'prepareForUpdate' | 'validate' | 'validateUpdate' | 'subresources'
> = {
  prepareForCreate: (claim, { settings }) => ({
    ...(isInForce('dataSourceRefs')
      ? withSources(claim, settings)
      : isOn(settings, 'AnyVolumeDataSource')
        ? claim
        : withKnownSource(claim)),
    status: { phase: 'Pending' },
  }),
  prepareForUpdate: (next, previous, { settings }) => {
    if (isInForce('dataSourceRefs')) return withSources(next, settings, previous);
    const isKept = isOn(settings, 'AnyVolumeDataSource') || previous.spec.dataSource !== undefined;
    return isKept ? next : withKnownSource(next);
  },
  validate: ({ spec }) => validateClaimSpec(spec, 'spec'),
  validateUpdate: (next, previous, { settings }) =>
    validateChange(next, previous, {
      mayGrow: isOn(settings, 'ExpandPersistentVolumes'),
      mayShrink: isOn(settings, 'RecoverVolumeExpansionFailure'),
      hasClasses: isOn(settings, 'VolumeAttributesClass'),
    }),
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: (next) => [
        ...Object.entries(next.status?.capacity ?? {}).flatMap(([name, value]) =>
          basicResource(value, `status.capacity[${name}]`),
        ),
        ...resizeStatuses(next.status?.allocatedResourceStatuses ?? {}),
        ...Object.keys(next.status?.allocatedResources ?? {}).flatMap((name) =>
          claimResource(name, 'status.allocatedResources'),
        ),
      ],
    },
  },
};

const RESIZE_STATUSES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
];

/** The path and the value are upstream's. */
function resizeStatuses(statuses: Readonly<Record<string, string>>): FieldError[] {
  const path = 'status.allocatedResourceStatuses';
  return Object.entries(statuses).flatMap(([name, status]) => [
    ...claimResource(name, path),
    ...(RESIZE_STATUSES.includes(status) ? [] : [notSupported(path, name, RESIZE_STATUSES)]),
  ]);
}

/** Of the resources without a domain, claims have storage alone. */
function claimResource(name: string, path: string): FieldError[] {
  const wrong = invalidForEach(qualifiedNameProblems(name), name, path);
  if (wrong.length > 0) return wrong;
  return name.includes('/') || name === 'storage' ? [] : [notSupported(path, name, ['storage'])];
}

/** Source: DropDisabledFields, EnforceDataSourceBackwardsCompatibility and NormalizeDataSources, v1.36. */
function withSources(
  claim: PersistentVolumeClaim,
  settings: KindSettings,
  previous?: PersistentVolumeClaim,
): PersistentVolumeClaim {
  const { dataSourceRef, ...rest } = claim.spec;
  const isForeign = (dataSourceRef?.namespace ?? '') !== '';
  const isDropped =
    isForeign &&
    !isOn(settings, 'CrossNamespaceVolumeDataSource') &&
    previous?.spec.dataSourceRef === undefined;
  const kept: PersistentVolumeClaim = isDropped ? { ...claim, spec: rest } : claim;
  const isOld = kept.spec.dataSourceRef === undefined && previous?.spec.dataSource === undefined;
  return withBothSources(isOld ? withKnownSource(kept) : kept);
}

/** Only claims and snapshots can fill a claim by default; any other source is dropped. */
function withKnownSource(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { dataSource, ...rest } = claim.spec;
  if (dataSource === undefined) return claim;
  const { apiGroup, kind } = dataSource;
  const group = apiGroup ?? '';
  const isKnown =
    (kind === 'PersistentVolumeClaim' && group === '') ||
    (kind === 'VolumeSnapshot' && group === SNAPSHOT_GROUP);
  return isKnown ? claim : { ...claim, spec: rest };
}

/** Each field for a source is filled in from the other one, unless the source is in another namespace. */
function withBothSources(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { dataSource, dataSourceRef } = claim.spec;
  if (dataSource !== undefined && dataSourceRef === undefined) {
    return { ...claim, spec: { ...claim.spec, dataSourceRef: dataSource } };
  }
  if (dataSource !== undefined || dataSourceRef === undefined) return claim;
  const { namespace = '', ...source } = dataSourceRef;
  return namespace === '' ? { ...claim, spec: { ...claim.spec, dataSource: source } } : claim;
}

const CLAIM_SPEC = messageType('core/v1.PersistentVolumeClaimSpec');

/** What feature gates allow to change in a bound claim. */
interface Changeable {
  readonly mayGrow: boolean;
  /** A claim whose volume could not grow may ask for less again, down to its capacity. */
  readonly mayShrink: boolean;
  /** Volumes have a VolumeAttributesClass, which may change. */
  readonly hasClasses: boolean;
}

function validateChange(
  next: PersistentVolumeClaim,
  previous: PersistentVolumeClaim,
  changeable: Changeable,
): FieldError[] {
  const { mayGrow, hasClasses } = changeable;
  const parts = hasClasses ? 'resources.requests and volumeAttributesClassName' : 'resources.requests';
  const why = mayGrow
    ? `spec is immutable after creation except ${parts} for bound claims`
    : 'field is immutable after creation';
  const spec = comparable(next, previous, changeable);
  return [
    ...(movesClass(next, previous) ? [] : sameClassAnnotation(next.metadata, previous.metadata)),
    ...(isSemanticallyEqual(CLAIM_SPEC, spec, previous.spec)
      ? []
      : [forbiddenField('spec', `${why}${describeDiff('spec', spec, previous.spec)}`)]),
    ...(mayGrow ? smallerSize(next, previous, changeable) : []),
    ...immutable(next.spec.volumeMode, previous.spec.volumeMode, 'volumeMode'),
    ...(hasClasses ? lostClass(next, previous) : []),
  ];
}

function smallerSize(
  next: PersistentVolumeClaim,
  previous: PersistentVolumeClaim,
  { mayShrink }: Changeable,
): FieldError[] {
  const isBelow = (amount: Quantity | undefined, orEqual: boolean): boolean => {
    const order = compareQuantity(quantityOf(sizeOf(next)), quantityOf(amount));
    return orEqual ? order <= 0 : order < 0;
  };
  if (!isBelow(sizeOf(previous), false)) return [];
  const path = 'spec.resources.requests.storage';
  if (!mayShrink) return [forbiddenField(path, 'field can not be less than previous value')];
  return isBelow(previous.status?.capacity?.[STORAGE], true)
    ? [forbiddenField(path, 'field can not be less than status.capacity')]
    : [];
}

/** A class that was applied to the volume can be replaced only. */
function lostClass(
  { spec }: PersistentVolumeClaim,
  { spec: before, status }: PersistentVolumeClaim,
): FieldError[] {
  const { volumeAttributesClassName: name } = spec;
  if (name === before.volumeAttributesClassName || status?.currentVolumeAttributesClassName === undefined)
    return [];
  if (name !== undefined && name !== '') return [];
  const what = name === undefined ? 'nil' : 'empty string';
  const why = `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`;
  return [forbiddenField('spec.volumeAttributesClassName', why)];
}

/** The new spec with the old values of what may change. */
function comparable(
  next: PersistentVolumeClaim,
  previous: PersistentVolumeClaim,
  { mayGrow, hasClasses }: Changeable,
): ReadonlyJson {
  const { spec: after } = next;
  const { spec: before } = previous;
  const { resources } = after;
  const { requests } = resources;
  const isInUse = next.status?.phase === 'Bound';
  const mayDiffer = mayGrow && isInUse;
  const reset: ReadonlyJson = {
    ...after,
    ...((before.volumeName ?? '') === '' ? { volumeName: before.volumeName } : {}),
    ...(movesClass(next, previous) ? { storageClassName: undefined } : {}),
    ...(hasClasses && isInUse ? { volumeAttributesClassName: before.volumeAttributesClassName } : {}),
    ...(mayDiffer && requests !== undefined
      ? { resources: { ...resources, requests: { ...requests, [STORAGE]: sizeOf(previous) } } }
      : {}),
  };
  return Object.fromEntries(Object.entries(reset).filter(([, value]) => value !== undefined));
}

function classAnnotation({ annotations }: ObjectMeta): string | undefined {
  return annotations?.[ANNOTATION.betaStorageClass];
}

/** A class may move from its old annotation into the field. */
function movesClass(next: PersistentVolumeClaim, previous: PersistentVolumeClaim): boolean {
  const annotation = classAnnotation(previous.metadata);
  return (
    annotation !== undefined &&
    previous.spec.storageClassName === undefined &&
    next.spec.storageClassName === annotation &&
    (classAnnotation(next.metadata) ?? annotation) === annotation
  );
}

function sameClassAnnotation(next: ObjectMeta, previous: ObjectMeta): FieldError[] {
  const path = `metadata.annotations.${ANNOTATION.betaStorageClass}`;
  return immutable(classAnnotation(next) ?? '', classAnnotation(previous) ?? '', path);
}

function sizeOf({ spec }: PersistentVolumeClaim): Quantity | undefined {
  return spec.resources.requests?.[STORAGE];
}

/** Capacity and modes are those of the volume that was bound, not the requested ones. */
const persistentVolumeClaimTable = tableOf<PersistentVolumeClaim>([
  NAME,
  { name: 'Status', cell: phaseOf },
  { name: 'Volume', cell: ({ spec }) => spec.volumeName ?? '' },
  {
    name: 'Capacity',
    cell: (claim) => (isBound(claim) ? (claim.status?.capacity?.['storage'] ?? '0') : ''),
  },
  { name: 'Access Modes', cell: (claim) => (isBound(claim) ? accessModes(claim.status?.accessModes) : '') },
  { name: 'StorageClass', cell: storageClassOf },
  ...(isInForce('volumeAttributesColumns')
    ? [
        {
          name: 'VolumeAttributesClass',
          cell: ({ spec }: PersistentVolumeClaim) => spec.volumeAttributesClassName ?? UNSET,
        },
      ]
    : []),
  AGE,
  { name: 'VolumeMode', isWide: true, cell: ({ spec }) => spec.volumeMode ?? UNSET },
]);

function isBound({ spec }: PersistentVolumeClaim): boolean {
  return spec.volumeName !== undefined && spec.volumeName !== '';
}

export const persistentVolumeClaims: Kind<PersistentVolumeClaim> = {
  strategy: { compat: { returnsDeletedObject: true }, ...persistentVolumeClaimRules },
  table: persistentVolumeClaimTable,
};
