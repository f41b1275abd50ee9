import type {
  CSIDriver,
  CSINode,
  StorageClass,
  VolumeAttachment,
} from '../../../../shared/api/types/storage-v1';
import { ANNOTATION } from '../../../../shared/names';
import { AGE, NAME } from '../columns/common';
import { NONE, UNSET } from '../columns/format';
import { tableOf } from '../columns/table';

export const csiDriverTable = tableOf<CSIDriver>([
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

export const csiNodeTable = tableOf<CSINode>([
  NAME,
  { name: 'Drivers', type: 'integer', cell: ({ spec }) => spec.drivers?.length ?? 0 },
  AGE,
]);

export const storageClassTable = tableOf<StorageClass>([
  {
    ...NAME,
    cell: ({ metadata }) => `${metadata.name ?? ''}${isDefault(metadata.annotations) ? ' (default)' : ''}`,
  },
  { name: 'Provisioner', cell: ({ provisioner }) => provisioner },
  { name: 'ReclaimPolicy', cell: ({ reclaimPolicy = 'Delete' }) => reclaimPolicy },
  { name: 'VolumeBindingMode', cell: ({ volumeBindingMode = 'Immediate' }) => volumeBindingMode },
  { name: 'AllowVolumeExpansion', cell: ({ allowVolumeExpansion = false }) => allowVolumeExpansion },
  AGE,
]);

function isDefault(annotations: Readonly<Record<string, string>> = {}): boolean {
  return [ANNOTATION.isDefaultStorageClass, ANNOTATION.betaIsDefaultStorageClass].some(
    (key) => annotations[key] === 'true',
  );
}

export const volumeAttachmentTable = tableOf<VolumeAttachment>([
  NAME,
  { name: 'Attacher', format: 'name', cell: ({ spec }) => spec.attacher },
  { name: 'PV', cell: ({ spec }) => spec.source.persistentVolumeName ?? '' },
  { name: 'Node', cell: ({ spec }) => spec.nodeName },
  { name: 'Attached', type: 'boolean', cell: ({ status }) => status?.attached ?? false },
  AGE,
]);
