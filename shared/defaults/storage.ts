import type { CSIDriverSpec, StorageClass } from '../api/types/storage-v1';
import type { DefaultsTable, MessageDefaults } from './contract';

const storageClass: MessageDefaults<StorageClass> = {
  values: { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
};
const csiDriverSpec: MessageDefaults<CSIDriverSpec> = {
  values: {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    requiresRepublish: false,
  },
  derive: ({ volumeLifecycleModes: given = [] }) =>
    given.length > 0 ? undefined : { volumeLifecycleModes: ['Persistent'] },
};

export const STORAGE: DefaultsTable = {
  'storage/v1.StorageClass': storageClass,
  'storage/v1beta1.StorageClass': storageClass,
  'storage/v1.CSIDriverSpec': csiDriverSpec,
  'storage/v1beta1.CSIDriverSpec': csiDriverSpec,
};
