import type { PersistentVolume, PersistentVolumeClaim } from '../../../../shared/api/types/core-v1';
import { ANNOTATION } from '../../../../shared/names';
import type { ObjectMeta } from '../../../../shared/object/object';
import { AGE, NAME } from '../columns/common';
import { phaseOf, UNSET } from '../columns/format';
import { tableOf } from '../columns/table';

export const persistentVolumeTable = tableOf<PersistentVolume>([
  NAME,
  { name: 'Capacity', cell: ({ spec }) => spec.capacity?.['storage'] ?? '0' },
  { name: 'Access Modes', cell: ({ spec }) => accessModes(spec.accessModes) },
  { name: 'Reclaim Policy', cell: ({ spec }) => spec.persistentVolumeReclaimPolicy ?? '' },
  { name: 'Status', cell: phaseOf },
  { name: 'Claim', cell: claimOf },
  { name: 'StorageClass', cell: storageClassOf },
  { name: 'Reason', cell: ({ status }) => status?.reason ?? '' },
  AGE,
  { name: 'VolumeMode', isWide: true, cell: ({ spec }) => spec.volumeMode ?? UNSET },
]);

/** Capacity and modes are those of the volume that was bound, not those that were asked for. */
export const persistentVolumeClaimTable = tableOf<PersistentVolumeClaim>([
  NAME,
  { name: 'Status', cell: phaseOf },
  { name: 'Volume', cell: ({ spec }) => spec.volumeName ?? '' },
  {
    name: 'Capacity',
    cell: (claim) => (isBound(claim) ? (claim.status?.capacity?.['storage'] ?? '0') : ''),
  },
  { name: 'Access Modes', cell: (claim) => (isBound(claim) ? accessModes(claim.status?.accessModes) : '') },
  { name: 'StorageClass', cell: storageClassOf },
  AGE,
  { name: 'VolumeMode', isWide: true, cell: ({ spec }) => spec.volumeMode ?? UNSET },
]);

function isBound({ spec }: PersistentVolumeClaim): boolean {
  return spec.volumeName !== undefined && spec.volumeName !== '';
}

const SHORT_MODES: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
];

function accessModes(modes: readonly string[] = []): string {
  return SHORT_MODES.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

function claimOf({ spec: { claimRef } }: PersistentVolume): string {
  return claimRef === undefined ? '' : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`;
}

/** The class of a volume or claim; the annotation of the time before the field wins. */
function storageClassOf({
  metadata,
  spec,
}: {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly storageClassName?: string };
}): string {
  return metadata.annotations?.[ANNOTATION.betaStorageClass] ?? spec.storageClassName ?? '';
}
